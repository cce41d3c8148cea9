package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"abagraph/client"
)

var branches = &kind{path: "/api/branches", field: "name", list: branchesTable, one: branchTable}

func branchCommand(a *app) *cobra.Command {
	return group("branch", "Make branches, compare them with their parent, promote or discard them", `A branch is an overlay over its parent as it was recorded at the fork point.
What is written on it (--branch on the other commands) changes nothing there,
until the branch is promoted.`, `  abagraph branch create experiment
  abagraph assert user:alice prefers light-mode --branch experiment
  abagraph branch diff experiment
  abagraph branch promote experiment --dry-run
  abagraph branch promote experiment`,
		branches.listCommand(a, "List branches, closed ones included", true, filter{"status", "only those that are open, promoted or discarded"}),
		branchCreateCommand(a), branches.getCommand(a, "Show one branch"), branchDiffCommand(a), branchPromoteCommand(a),
		branches.doCommand(a, "Close a branch without merging it", action{verb: "discard", method: "POST", suffix: "/discard", takesTwo: true, show: discardedTable}))
}

// freshness adds the flags of a read that is of the present.
func freshness(flags *pflag.FlagSet, q *client.Read, explain *bool) {
	flags.StringVar(&q.Consistency, "consistency", "", "linearizable (the default) or stale")
	flags.Uint64Var(&q.MinTx, "min-tx", 0, "wait until the node has applied this tx")
	flags.BoolVar(explain, "explain", false, "show how the read went")
}

// retriable adds the flags of a write that names no branch to write to.
func retriable(flags *pflag.FlagSet, w *client.Write, explain *bool) {
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(explain, "explain", false, "show how the write went")
}

func branchCreateCommand(a *app) *cobra.Command {
	var w client.Write
	var b client.NewBranch
	var explain bool
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Fork a branch; no data is copied",
		Example: `  abagraph branch create experiment --parent main
  abagraph branch create snapshot --as-of 1718800000000`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			b.Name = args[0]
			body, err := json.Marshal(b)
			if err != nil {
				return err
			}
			call := client.Call{Method: "POST", Path: "/api/branches", Body: body, Query: approved(w.Approval), IdempotencyKey: w.IdempotencyKey}
			return a.call(c.Context(), call, explain, branchTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&b.Parent, "parent", "", "branch to fork from (default main)")
	flags.StringVar(&b.AsOf, "as-of", "", "fork from what was recorded by then (Unix milliseconds, 2024-06-19 or RFC 3339)")
	approvable(flags, &w.Approval)
	retriable(flags, &w, &explain)
	return c
}

func branchDiffCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:               "diff NAME",
		Short:             "Show what a branch changes of its parent as it was at the fork",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: branches.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.BranchPath(args[0])+"/diff", q.Values(), explain, branchDiffTable)
		},
	}
	flags := c.Flags()
	flags.IntVar(&q.Limit, "limit", 0, "at most this many facts of each kind (default 200, at most 10,000)")
	freshness(flags, &q.Read, &explain)
	return c
}

func branchPromoteCommand(a *app) *cobra.Command {
	var w client.Write
	var dryRun, explain bool
	c := &cobra.Command{
		Use:               "promote NAME",
		Short:             "Merge a branch into its parent, in one step, and close it",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: branches.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "POST", Path: client.BranchPath(args[0]) + "/promote", IdempotencyKey: w.IdempotencyKey}
			call.Query = approved(w.Approval)
			if dryRun {
				call.Query.Set("dry_run", "1")
			}
			return a.call(c.Context(), call, explain, promotedTable)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&dryRun, "dry-run", false, "write nothing: show what would be written, and the conflicts")
	approvable(flags, &w.Approval)
	retriable(flags, &w, &explain)
	return c
}

func branchesTable(t *table, raw []byte) error {
	var list []client.Branch
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) > 0 {
		t.row("BRANCH", "PARENT", "STATUS", "FORKED AT", "TX")
	}
	for i := range list {
		b := &list[i]
		t.row(b.Name, b.Parent, b.Status, when(b.BaseTs), fmt.Sprint(b.BaseTx))
	}
	t.line("%s", count(len(list), "branch", "branches"))
	return nil
}

func when(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

func branchTable(t *table, raw []byte) error {
	var b client.Branch
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	t.row("branch", b.Name)
	t.row("parent", b.Parent)
	t.row("status", b.Status)
	t.row("forked at", fmt.Sprintf("%s (tx %d)", when(b.BaseTs), b.BaseTx))
	t.row("created", when(b.CreatedAt))
	if b.ClosedAt != nil {
		t.row(b.Status, when(*b.ClosedAt))
	}
	limits(t, false, b.Hints)
	return nil
}

func branchDiffTable(t *table, raw []byte) error {
	var d client.BranchDiff
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	for _, part := range []struct {
		sign  string
		facts []client.Fact
	}{{"+", d.Added}, {"~", d.Changed}, {"-", d.Removed}} {
		for i := range part.facts {
			f := &part.facts[i]
			t.row(part.sign, f.Subject, f.Predicate, objectText(f.Object))
		}
	}
	t.line("%d added, %d changed, %d removed; %s of %s replaced", d.Counts["added"], d.Counts["changed"], d.Counts["removed"],
		count(d.Counts["replaced"], "fact", "facts"), d.Parent)
	limits(t, false, d.Hints)
	return nil
}

func promotedTable(t *table, raw []byte) error {
	var p client.Promoted
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	for i := range p.Conflicts {
		k := &p.Conflicts[i]
		for j := range k.With {
			t.row(k.Reason, k.Fact.Subject, k.Fact.Predicate, objectText(k.Fact.Object), "meets", objectText(k.With[j].Object))
		}
	}
	what := "promoted"
	switch {
	case p.DryRun && !p.OK:
		what = "would be refused; without its conflicts it would promote"
	case p.DryRun:
		what = "would promote"
	}
	t.line("%s: %s %s into %s: %s retracted, %s superseded, %s", p.Branch, what, count(p.Promoted, "statement", "statements"), p.Parent,
		count(p.Retracted, "statement", "statements"), count(p.Superseded, "fact", "facts"), count(p.ConflictCount, "conflict", "conflicts"))
	limits(t, false, p.Hints)
	return nil
}

func discardedTable(t *table, raw []byte) error {
	var d client.Discarded
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	t.line("%s: discarded %s", d.Branch, count(d.Discarded, "fact", "facts"))
	return nil
}
