package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"abagraph/client"
)

func walkCommand(a *app) *cobra.Command {
	var q client.WalkQuery
	var depth int
	var explain bool
	c := &cobra.Command{
		Use:   "walk START",
		Short: "Follow edges from an entity, breadth first",
		Long: `Follows facts whose object is an entity, from START on, and writes what was
reached and by which edges, the nearest first. Like every read it can be of
another time: --as-of, --known-at, --tx.`,
		Example: `  abagraph walk Person:alice --depth 3
  abagraph walk Company:acme --direction in --edge-types works_at --as-of 2024-01-01`,
		Args: exactArgs("START"),
		RunE: func(c *cobra.Command, args []string) error {
			q.Start, q.Depth = args[0], &depth
			return a.read(c.Context(), "/api/walk", q.Values(), explain, walkTable)
		},
	}
	flags := c.Flags()
	flags.IntVar(&depth, "depth", 2, "follow at most this many edges from START, up to 16")
	edgeFlags(flags, &q.Direction, &q.EdgeTypes, "out")
	flags.BoolVar(&explain, "explain", false, "show how the walk went")
	readFlags(flags, &q.Read)
	return c
}

// edgeFlags adds the flags that choose the edges to follow.
func edgeFlags(flags *pflag.FlagSet, direction, types *string, otherwise string) {
	flags.StringVar(direction, "direction", "", "out, in or both (default "+otherwise+")")
	flags.StringVar(types, "edge-types", "", "follow these predicates only, a comma list")
}

func walkTable(t *table, raw []byte) error {
	var got client.WalkAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	if len(got.Edges) > 0 {
		edgeHead(t)
		edgeRows(t, got.Edges)
	}
	t.line("%s and %s", count(len(got.Reached), "entity", "entities"), count(len(got.Edges), "edge", "edges"))
	limits(t, got.Limited, got.Hints)
	return nil
}

func edgeHead(t *table) { t.row("FROM", "EDGE", "TO", "SINCE", "UNTIL", "CONF", "SOURCE") }

func edgeRows(t *table, edges []client.Edge) {
	for i := range edges {
		e := &edges[i]
		since, until, source := "", "", ""
		if e.Fact != nil {
			since, until = instantText(e.Fact.ValidFrom), instantText(e.Fact.ValidUntil)
		}
		if e.Source != nil {
			source = *e.Source
		}
		t.row(e.From, e.Predicate, e.To, since, until, fmt.Sprintf("%.2f", e.Confidence), source)
	}
}

// limits says below a table what the answer says beside its rows.
func limits(t *table, limited bool, hints []string) {
	if limited {
		t.line("there is more than one answer holds")
	}
	for _, hint := range hints {
		t.line("warning: %s", hint)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + many
}
