package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abagraph/fsm"
	"abagraph/ops"
)

// maxRate is the greatest bound of a backup's pace, in MiB a second.
const maxRate = 1 << 20

func opsBackupCommand(a *app) *cobra.Command {
	var job ops.Backup
	var keep int
	var check bool
	var rate int64
	var every time.Duration
	var remote bucketFlags
	c := &cobra.Command{
		Use:   "backup FILE|DIR|s3://BUCKET/PREFIX",
		Short: "Write the whole store of a running node into one checked file",
		Long: `Takes a copy of the node's whole store at one tx, every tenant in it, and checks
every byte on its way. Any node will do; the copy holds everything that was
acknowledged before the call. In a directory the file is named after the state.
A file that is there already is never replaced, and an interrupted backup leaves
nothing. Hashes of keys are in it, keys and secrets are not: keep it like the data.

For a timer: --check restores the new backup into a temporary directory and checks
that to the last key, and --keep deletes the oldest ones of the directory afterwards.
With --every it goes on, one after the other, until it is interrupted. Into an
S3-compatible store goes the finished file; --check fetches it from there.`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if keep < 0 || rate < 0 || rate > maxRate {
				return fmt.Errorf("--keep is 1 or more, and --rate 0 to %d", maxRate)
			}
			job.To, job.Rate = args[0], rate<<20
			run := func(ctx context.Context) error { return a.backup(ctx, job, keep, check) }
			if strings.HasPrefix(job.To, ops.BucketScheme) {
				bucket, err := a.bucket(&remote, job.To)
				if err != nil {
					return err
				}
				run = func(ctx context.Context) error { return a.backupInto(ctx, bucket, job, keep, check) }
			} else if keep > 0 || every > 0 {
				if info, err := os.Stat(job.To); err != nil || !info.IsDir() {
					return fmt.Errorf("--keep and --every need a directory, and %s is none", job.To)
				}
			}
			if every > 0 {
				return a.again(c.Context(), every, run)
			}
			return run(c.Context())
		},
	}
	flags := c.Flags()
	flags.BoolVar(&job.Stale, "stale", false, "take what this node has, without asking the leader: also where no majority is up")
	flags.Int64Var(&rate, "rate", 32, "MiB a second that are taken at most, so that the node has time for its writers; 0 = as fast as it goes")
	flags.BoolVar(&check, "check", false, "restore it into a temporary directory, and check that to the last key")
	flags.IntVar(&keep, "keep", 0, "keep so many of the backups of this epoch in the directory, and delete older ones (default: all)")
	flags.DurationVar(&every, "every", 0, "take one so often, 1m at least, until interrupted (default: once)")
	remote.add(flags)
	return c
}

// backupReport is a backup with what came after it.
type backupReport struct {
	*ops.BackupReport
	Checked *fsm.Verified `json:"checked,omitempty"`
	Deleted []string      `json:"deleted,omitempty"`
	Others  int           `json:"of_other_epochs,omitempty"` // backups beside it, which are left alone
}

func (a *app) backup(ctx context.Context, job ops.Backup, keep int, check bool) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	defer client.Close()
	bar := newBar(a, a.json)
	defer bar.clear()
	job.Client, job.Progress = client, bar.reading
	done := backupReport{}
	if done.BackupReport, err = job.Run(ctx); err != nil {
		return a.explainDenial(err)
	}
	if check {
		seen, err := ops.Drill(ctx, done.File, "", bar.working, a.die)
		if err != nil {
			if ops.IsUnsound(err) { // or it would be counted among those that are kept
				aside, moved := ops.SetAside(done.File)
				err = errors.Join(fmt.Errorf("%w; the file is set aside as %s", err, aside), moved)
			}
			return err // no older one is deleted
		}
		done.Checked = seen.Store
	}
	if keep > 0 {
		retained, err := ops.Retain(job.To, keep, filepath.Base(done.File))
		if err != nil {
			return err
		}
		done.Deleted, done.Others = retained.Deleted, retained.Others
	}
	bar.clear()
	return show(a, done, backupTable)
}

func backupTable(t *table, r backupReport) {
	t.row("file", r.File)
	t.row("size", bytesText(r.Bytes))
	t.row("took", fmt.Sprintf("%.1f s", r.Seconds))
	manifestRows(t, &r.Manifest)
	if r.Checked != nil {
		t.row("test restore", fmt.Sprintf("sound: %d keys checked", r.Checked.Keys))
	}
	for _, name := range r.Deleted {
		t.row("deleted", name)
	}
	if r.Others > 0 {
		t.row("left alone", fmt.Sprintf("%d backups of other epochs, of before a restore or of another cluster", r.Others))
	}
}

func manifestRows(t *table, m *fsm.Manifest) {
	t.row("tx", fmt.Sprint(m.Tx))
	t.row("epoch", m.Epoch)
	t.row("digest", m.Digest)
	t.row("facts", fmt.Sprintf("%d active, %d candidates, %d superseded, %d retracted, of %d tenants",
		m.Counts.Active, m.Counts.Candidate, m.Counts.Superseded, m.Counts.Retracted, m.Counts.Tenants))
	t.row("made", instantText(m.CreatedAt)+" by "+m.Node+", version "+m.Version)
}

func opsRestoreCommand(a *app) *cobra.Command {
	job := ops.Restore{Fatal: a.die}
	var remote bucketFlags
	c := &cobra.Command{
		Use:   "restore FILE|s3://BUCKET/NAME --data DIR",
		Short: "Make a data directory out of a backup, for a node that is alone at first",
		Long: `Checks the whole file before anything is touched, and then makes a data directory
of it in which one node starts that is alone: others join it with empty ones. The
store gets a new epoch, so that cursors of before are told (410 EpochChanged).

With --replace, what the directory holds is set aside inside it, and it is told
what that had and the backup has not. No node may run there.`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(job.Data) == "" {
				return fmt.Errorf("say where to with --data DIR")
			}
			return a.withFile(c.Context(), &remote, args[0], func(file string) error {
				job.File = file
				bar := newBar(a, a.json)
				job.Progress = bar.reading
				report, err := job.Run(c.Context())
				bar.clear()
				if err != nil {
					return err
				}
				return show(a, report, restoreTable)
			})
		},
	}
	c.Flags().StringVar(&job.Data, "data", "", "data directory to make: empty, or not there, unless --replace")
	c.Flags().StringVar(&job.NodeID, "node-id", "", "name of the restored node (default: the replaced one's, or a new one)")
	c.Flags().BoolVar(&job.Replace, "replace", false, "set aside what the directory holds")
	remote.add(c.Flags())
	return c
}

func restoreTable(t *table, r *ops.RestoreReport) {
	t.row("data", r.Data)
	t.row("node", r.NodeID)
	t.row("new epoch", r.Epoch+", for that of the backup below")
	if r.SetAside != "" {
		t.row("set aside", r.SetAside)
	}
	manifestRows(t, &r.Manifest)
	for _, warning := range r.Warnings {
		t.line("warning: %s", warning)
	}
	t.line("start it with: abagraph serve --data %s", r.Data)
}
