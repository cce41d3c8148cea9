package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

func opsReplayCommand(a *app) *cobra.Command {
	job := ops.Replay{Fatal: a.die}
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Apply the log of a node that does not run anew, and compare with its store",
		Long: `Begins with the oldest snapshot that the log goes on from, or with nothing, applies
every entry that the node has applied in a temporary directory, and compares digests and
keys. It changes nothing. The exit code is 1 where the digests differ.`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			job.Data = args[0]
			bar := newBar(a, a.json)
			job.Progress = bar.working
			return judged(a, bar, func() (*ops.ReplayReport, error) { return job.Run(c.Context()) }, replayTable, func(r *ops.ReplayReport) bool { return r.Same })
		},
	}
	c.Flags().StringVar(&job.Temp, "temp", "", "directory to build the store in (default: the system's)")
	return c
}

func replayTable(t *table, r *ops.ReplayReport) {
	t.row("data", r.Data)
	t.row("node", r.NodeID)
	t.row("replayed", fmt.Sprintf("%d entries after entry %d", r.Entries, r.From))
	t.row("kept", fmt.Sprintf("entry %d, tx %d, digest %s, %d keys", r.Kept.Index, r.Kept.Tx, r.Kept.Digest, r.Kept.Keys))
	t.row("anew", fmt.Sprintf("entry %d, tx %d, digest %s, %d keys", r.Anew.Index, r.Anew.Tx, r.Anew.Digest, r.Anew.Keys))
	switch {
	case r.SameKeys:
		t.line("both are the same to the last key")
		return
	case r.Same:
		t.line("both have the same digest, and not the same keys: so it is where an earlier release wrote the store; elsewhere run abagraph ops verify")
		return
	}
	t.line("PROBLEM: the log does not lead to this store: keep the directory for examination, and let the node join anew with an empty one")
}

func opsCompactCommand(a *app) *cobra.Command {
	job := ops.Compact{Fatal: a.die}
	c := &cobra.Command{
		Use:   "compact DIR",
		Short: "Rewrite store and log of a node that does not run, without what is no longer in use",
		Long: `Frees what was deleted, replaced or trimmed, also for whoever looks into the files.
It needs room for the log once more. An interruption leaves the directory sound.

With --trim-all what the store holds leaves the log too, and the store becomes the
only snapshot: so no file of the node holds what was purged. A member that lags
behind it is then sent that snapshot instead of the log.`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			job.Data = args[0]
			report, err := job.Run(c.Context())
			if err != nil {
				return err
			}
			return show(a, report, func(t *table, r *ops.CompactReport) {
				t.row("data", r.Data)
				t.row("node", r.NodeID)
				t.row("directory", bytesText(int64(r.DataBefore))+" before, "+bytesText(int64(r.DataAfter))+" now")
				t.row("raft.db", bytesText(r.LogBefore)+" before, "+bytesText(r.LogAfter)+" now")
			})
		},
	}
	c.Flags().BoolVar(&job.TrimAll, "trim-all", false, "leave nothing in the log that the store holds, and no other snapshot")
	return c
}
