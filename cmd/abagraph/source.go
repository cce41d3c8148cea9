package main

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func sourceCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "source",
		Short: "Take back what a source wrote",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(sourceUndoCommand(a))
	return c
}

func sourceUndoCommand(a *app) *cobra.Command {
	var w client.Write
	var u client.Undo
	var explain bool
	c := &cobra.Command{
		Use:   "undo NAME",
		Short: "Retract everything that a source wrote, in one step",
		Long: `Retracts every statement of a source: what holds, what waits as a candidate, and
what was superseded. Its history stays, and what it had closed is not reopened.`,
		Example: `  abagraph source undo crm_contacts --dry-run
  abagraph source undo crm_contacts`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "POST", Path: client.UndoPath(args[0]), IdempotencyKey: w.IdempotencyKey}
			return a.writeWith(c.Context(), call, w.Branch, explain, func(v url.Values) {
				for name, values := range u.Values() {
					v[name] = values
				}
			}, undoneTable)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&u.DryRun, "dry-run", false, "write nothing: show what would be retracted")
	flags.BoolVar(&u.Partial, "partial", false, "where there are more than 10,000 statements, retract the newest ones; repeat it for the rest")
	flags.Uint64Var(&u.After, "tx-gt", 0, "only what was recorded after this tx")
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	retriable(flags, &w, &explain)
	return c
}

func undoneTable(t *table, raw []byte) error {
	var u client.Undone
	if err := json.Unmarshal(raw, &u); err != nil {
		return err
	}
	for i := range u.Sample {
		f := &u.Sample[i]
		t.row(f.Status, f.Subject, f.Predicate, objectText(f.Object))
	}
	what := "retracted"
	if u.DryRun {
		what = "would retract"
	}
	t.line("%s: %s %s (%s; %d active, %d candidates, %d superseded before), %d left", u.Source, what, count(u.Retracted, "fact", "facts"),
		count(u.Statements, "statement", "statements"), u.Found["active"], u.Found["candidate"], u.Found["superseded"], u.Remaining)
	limits(t, false, u.Hints)
	return nil
}
