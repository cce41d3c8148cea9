package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func changesCommand(a *app) *cobra.Command {
	var q client.ChangesQuery
	var explain bool
	c := &cobra.Command{
		Use:   "changes --from TIME",
		Short: "Show what changed between two instants",
		Long: `Compares what held at --from, as it was known then, with what held at --to, as
it was known then: what was added, what holds no longer, and how much still does.
--axis valid compares two times of the world as known at --to, --axis known what
was known at two times of the world at --to.`,
		Example: `  abagraph changes --from 2024-06-01 --to 2024-06-19
  abagraph changes --from 2024-06-01 --subject Person:alice`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.From == "" {
				return fmt.Errorf("--from is missing (see %s --help)", c.CommandPath())
			}
			return a.read(c.Context(), "/api/changes", q.Values(), explain, changesTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.From, "from", "", "the earlier instant (Unix milliseconds, 2024-06-19 or RFC 3339)")
	flags.StringVar(&q.To, "to", "", "the later instant (default now)")
	flags.StringVar(&q.Axis, "axis", "", "both (the default), valid or known")
	flags.StringVar(&q.Subject, "subject", "", "only this entity")
	flags.StringVar(&q.Predicate, "predicate", "", "only this predicate")
	flags.StringVar(&q.Object, "object", "", "only this object")
	flags.StringVar(&q.After, "after", "", "go on after this entity")
	flags.IntVar(&q.Limit, "limit", 0, "facts of a page (default 200)")
	flags.BoolVar(&explain, "explain", false, "show how the comparison went")
	readFlags(flags, &q.Read)
	return c
}

func changesTable(t *table, raw []byte) error {
	var got client.ChangesAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	t.row("ADDED")
	factRows(t, got.Added)
	t.row("")
	t.row("NO LONGER")
	factRows(t, got.Superseded)
	t.line("%d added, %d no longer hold (%d retracted, %d over), %d still do",
		got.AddedCount, got.SupersededCount, len(got.Retracted), len(got.Expired), got.StillValid)
	limits(t, got.Limited, got.Hints)
	return nil
}
