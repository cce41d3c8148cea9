package main

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func factcheckCommand(a *app) *cobra.Command {
	var q client.FactcheckQuery
	var explain bool
	c := &cobra.Command{
		Use:   "factcheck",
		Short: "List what contradicts what",
		Long: `Lists the contradictions among what holds: several active values of a predicate
that has one at a time, facts that are active after their end, and candidates
that disagree with what holds. It writes nothing. Where stdout is no terminal, it says
how many there are, and then lists them as JSON; --json writes the whole answer alone.`,
		Example: `  abagraph factcheck --subject Person:alice
  abagraph factcheck --coexist alias,label --as-of 2024-01-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			call := client.Call{Method: "GET", Path: "/api/factcheck", Query: q.Values()}
			return a.briefly(c.Context(), call, explain, factcheckTable, func(raw []byte) (string, []byte, error) { return a.factcheckBrief(raw, q.Integrity) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Subject, "subject", "", "only this entity")
	flags.StringVar(&q.Predicate, "predicate", "", "only this predicate")
	flags.StringVar(&q.Coexist, "coexist", "", "further predicates that may have several values, a comma list")
	flags.StringVar(&q.Kind, "kind", "", "multiple_active, expired_but_active, candidate_conflict: a comma list (default all)")
	flags.BoolVar(&q.Integrity, "integrity", false, "look for entities without edges and edges that lead nowhere, too")
	flags.StringVar(&q.After, "after", "", "go on after this entity")
	flags.IntVar(&q.Limit, "limit", 0, "contradictions of a page (default 200)")
	flags.BoolVar(&explain, "explain", false, "show how the check went")
	readFlags(flags, &q.Read)
	return c
}

// factcheckBrief says how many contradictions there are, and writes them; all of the
// answer where it was asked for more.
func (a *app) factcheckBrief(raw []byte, integrity bool) (string, []byte, error) {
	var got struct {
		Contradictions json.RawMessage `json:"contradictions"`
		Count          int             `json:"count"`
		Next           string          `json:"next"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return "", nil, err
	}
	if got.Next != "" {
		a.warn([]string{"there are more: go on with --after '" + got.Next + "'"})
	}
	below := []byte(got.Contradictions)
	if integrity {
		below = raw
	}
	return fmt.Sprintf("contradictions: %d", got.Count), below, nil
}

func factcheckTable(t *table, raw []byte) error {
	var got client.FactcheckAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	for _, k := range got.Contradictions {
		t.row(k.Kind, k.Subject, k.Predicate)
		factRows(t, k.Facts)
		t.row("")
	}
	t.line("contradictions: %d", got.Count)
	for _, o := range got.Orphans {
		t.line("no edges: %s", o.ID)
	}
	for _, e := range got.Dangling {
		t.line("leads nowhere: %s %s %s", e.From, e.Predicate, e.To)
	}
	limits(t, got.Limited, got.Hints)
	return nil
}

func consolidateCommand(a *app) *cobra.Command {
	var q client.ConsolidateQuery
	var w client.Write
	var explain bool
	c := &cobra.Command{
		Use:   "consolidate",
		Short: "Retract all but one of the facts that say the same for the same time",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			call := client.Call{Method: "POST", Path: "/api/consolidate", IdempotencyKey: w.IdempotencyKey, Query: url.Values{}}
			if w.Branch != "" {
				call.Query.Set("branch", w.Branch)
			}
			q.Set(call.Query)
			return a.briefly(c.Context(), call, explain, consolidateTable, consolidateBrief)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&q.DryRun, "dry-run", false, "write nothing, and show what would be collapsed")
	flags.StringVar(&q.Subject, "subject", "", "only this entity")
	flags.StringVar(&q.Predicate, "predicate", "", "only this predicate")
	flags.StringVar(&q.Coexist, "coexist", "", "further predicates that may have several values, a comma list")
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(&explain, "explain", false, "show how the write went")
	return c
}

func consolidateBrief(raw []byte) (string, []byte, error) {
	var got client.Consolidated
	if err := json.Unmarshal(raw, &got); err != nil {
		return "", nil, err
	}
	return consolidateLine(&got), raw, nil
}

func consolidateLine(got *client.Consolidated) string {
	return fmt.Sprintf("collapsed: %d superseded: %d conflicts: %d", got.Collapsed, len(got.Superseded), got.Conflicts)
}

func consolidateTable(t *table, raw []byte) error {
	var got client.Consolidated
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	for _, d := range got.Duplicates {
		t.row(d.Subject, d.Predicate, "keeps "+d.Kept, count(len(d.Collapsed), "copy", "copies"))
	}
	t.line("%s", consolidateLine(&got))
	limits(t, false, got.Hints)
	return nil
}
