package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func explainCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "explain ID",
		Short: "Show why a fact is believed, or is not any more",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.ExplainPath(args[0]), q.Values(), explain, explanationTable)
		},
	}
	flags := c.Flags()
	flags.IntVar(&q.Limit, "limit", 0, "rows of each list at most (default 10,000)")
	flags.StringVar(&q.Branch, "branch", "", "branch to read from")
	flags.StringVar(&q.Consistency, "consistency", "", "linearizable (the default) or stale")
	flags.Uint64Var(&q.MinTx, "min-tx", 0, "wait until the node has applied this tx")
	flags.BoolVar(&explain, "explain", false, "show the query plan")
	return c
}

func explanationTable(t *table, raw []byte) error {
	var got client.Explanation
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	factRows(t, []client.Fact{got.Fact})
	for _, part := range []struct {
		name  string
		facts []client.Fact
	}{
		{"HISTORY", got.History}, {"AGREES", got.Corroboration.Facts}, {"DISAGREES", got.Conflicts}, {"ENDED BY IT", got.Superseded},
	} {
		if len(part.facts) > 0 {
			t.row("")
			t.row(part.name)
			factRows(t, part.facts)
		}
	}
	if by := got.SupersededBy; by != nil {
		t.line("ended by %s: %s %s %s", by.ID, by.Subject, by.Predicate, objectText(by.Object))
	}
	t.line("%s: %s", count(got.Corroboration.Sources, "source", "sources"), strings.Join(got.Corroboration.SourceNames, ", "))
	limits(t, false, got.Hints)
	return nil
}
