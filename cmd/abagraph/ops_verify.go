package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/ops"
)

func opsVerifyCommand(a *app) *cobra.Command {
	var job ops.Verify
	var remote bucketFlags
	c := &cobra.Command{
		Use:   "verify [FILE|DIR|s3://BUCKET/NAME]",
		Short: "Check a running node, a backup, or the data of a node that does not run, to the last key",
		Long: `Without a name: the store of the node at --url, as it stands, while it serves; ask each
node of a cluster by itself. Of a backup: every byte against its checksums and, unpacked into a temporary
directory, its store. Of a data directory: every entry of the log, the snapshots, the
store, and that they belong together. Of a store: the records of every tx, each fact
under each of its index keys and no key without its fact, counters against full
counts. It changes nothing. The exit code is 1 where something is wrong.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.onNode(a.verifyLive)(c, args)
			}
			return a.withFile(c.Context(), &remote, args[0], func(path string) error {
				job.Path = path
				return a.verifyFile(c.Context(), &job)
			})
		},
	}
	remote.add(c.Flags())
	c.Flags().BoolVar(&job.Quick, "quick", false, "leave out the store's own check")
	c.Flags().StringVar(&job.Temp, "temp", "", "directory to unpack a backup in (default: the system's)")
	return c
}

func (a *app) verifyFile(ctx context.Context, job *ops.Verify) error {
	bar := newBar(a, a.json)
	job.Progress = bar.working
	report, err := job.Run(ctx)
	bar.clear()
	if err != nil {
		return err
	}
	if err := show(a, report, verifyTable); err != nil {
		return err
	}
	if !report.Sound {
		return errTold
	}
	return nil
}

// verifyLive has the node that is called check its store.
func (a *app) verifyLive(ctx context.Context, c *client.Client) error {
	seen, err := c.VerifyStore(ctx)
	if err != nil {
		return err
	}
	if err := show(a, seen, liveTable); err != nil {
		return err
	}
	if !seen.Sound {
		return errTold
	}
	return nil
}

func liveTable(t *table, s *client.StoreCheck) {
	t.row("store", fmt.Sprintf("tx %d, epoch %s, digest %s", s.Tx, s.Epoch, s.Digest))
	t.row("checked", fmt.Sprintf("%d keys: %d facts, %d versions, %d events, of %d tenants", s.Keys, s.Facts, s.Versions, s.Events, s.Tenants))
	for _, problem := range s.Problems {
		t.line("PROBLEM: %s", problem)
	}
	if s.Sound {
		t.line("nothing is wrong")
	}
}

func verifyTable(t *table, r *ops.VerifyReport) {
	t.row(r.Kind, r.Path)
	if r.Manifest != nil {
		manifestRows(t, r.Manifest)
	}
	if r.NodeID != "" {
		t.row("node", r.NodeID)
	}
	if r.Log != nil {
		t.row("log", fmt.Sprintf("entries %d to %d, %s", r.Log.First, r.Log.Last, bytesText(int64(r.Log.Bytes))))
	}
	if r.Snapshot != nil {
		t.row("snapshot", fmt.Sprintf("at entry %d", r.Snapshot.Index))
	}
	if s := r.Store; s != nil {
		t.row("store", fmt.Sprintf("tx %d, entry %d, epoch %s", s.Tx, s.Index, s.Epoch))
		t.row("checked", fmt.Sprintf("%d keys: %d facts, %d versions, %d events, of %d tenants", s.Keys, s.Facts, s.Versions, s.Events, s.Tenants))
	}
	for _, problem := range r.Problems {
		t.line("PROBLEM: %s", problem)
	}
	if r.Sound {
		t.line("nothing is wrong")
	}
}
