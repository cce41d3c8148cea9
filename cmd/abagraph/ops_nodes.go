package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/ops"
)

// onNode runs what an operator asks of a running node.
func (a *app) onNode(run func(ctx context.Context, c *client.Client) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		return a.explainDenial(run(command.Context(), c))
	}
}

func opsStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show every member: role, term, how far it is, digest, disk",
		Long: `Asks every member how it stands, through the node that is called; it needs no
leader. The exit code is 1 where a member does not answer, has a problem, or has
another digest than one at the same tx.`,
		Args: cobra.NoArgs,
		RunE: a.onNode(func(ctx context.Context, c *client.Client) error {
			nodes, err := c.Nodes(ctx)
			if err != nil {
				return err
			}
			report := statusReport{Nodes: nodes, Problems: ops.Problems(nodes)}
			if err := show(a, report, opsStatusTable); err != nil {
				return err
			}
			if len(report.Problems) > 0 {
				return errTold
			}
			return nil
		}),
	}
}

// statusReport is what the nodes told, and what is wrong in it.
type statusReport struct {
	*client.Nodes
	Problems []string `json:"problems"`
}

func opsStatusTable(t *table, r statusReport) {
	t.row("MEMBER", "ROLE", "TERM", "TX", "ENTRY", "LAG", "DIGEST", "LOG", "DATA", "FREE")
	for i := range r.Members {
		m := &r.Members[i]
		t.row(m.ID, roleOf(m), number(m.Term), number(m.Tx), number(m.AppliedIndex), number(m.Lag), shortDigest(m.Digest),
			size(m.LogBytes), size(m.DataBytes), size(m.FreeBytes))
	}
	leader := "none known"
	if r.LeaderID != nil {
		leader = *r.LeaderID
	}
	t.line("leader %s, term %d, committed to entry %d, told by %s", leader, r.Term, r.CommitIndex, r.NodeID)
	for _, problem := range r.Problems {
		t.line("PROBLEM: %s", problem)
	}
}

func roleOf(m *client.NodeStatus) string {
	switch {
	case m.Leader:
		return "leader"
	case m.Voter:
		return "voter"
	case m.Reader:
		return "reader"
	}
	return "no vote yet"
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func number(n *uint64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func size(n *uint64) string {
	if n == nil {
		return "-"
	}
	return bytesText(int64(*n))
}

func shortDigest(text *string) string {
	if text == nil || len(*text) < 12 {
		return orDash(text)
	}
	return (*text)[:12]
}

func opsSnapshotCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot",
		Short: "Have the node take a snapshot now, and trim its log",
		Args:  cobra.NoArgs,
		RunE: a.onNode(func(ctx context.Context, c *client.Client) error {
			index, err := c.Snapshot(ctx)
			if err != nil {
				return err
			}
			return show(a, snapshotReport{index}, func(t *table, r snapshotReport) { t.line("the newest snapshot is at entry %d", r.Index) })
		}),
	}
}

type snapshotReport struct {
	Index uint64 `json:"snapshot_index"`
}

func opsTransferCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "transfer [ID]",
		Short: "Hand the leadership to another voter, before its node is stopped",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			to := ""
			if len(args) > 0 {
				to = args[0]
			}
			return a.onNode(func(ctx context.Context, c *client.Client) error {
				leader, err := c.Transfer(ctx, to)
				if err != nil {
					return err
				}
				return show(a, leaderReport{leader}, func(t *table, r leaderReport) { t.line("%s leads", r.Leader) })
			})(command, args)
		},
	}
}

type leaderReport struct {
	Leader string `json:"leader_id"`
}
