package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func graphCommand(a *app) *cobra.Command {
	var q client.GraphQuery
	var explain bool
	c := &cobra.Command{
		Use:   "graph",
		Short: "Look at the whole graph, or around what matches --q",
		Long: `Writes the entities that have most edges and facts, and the edges between them;
with --q those that match and their neighbours. Where stdout is a terminal, the
edges are counted only: --json writes them.`,
		Example: `  abagraph graph --limit 20
  abagraph graph --q alice --as-of 2024-01-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), "/api/graph", q.Values(), explain, graphTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Q, "q", "", "part of an entity, a predicate, a text or a number, in any case")
	flags.IntVar(&q.Limit, "limit", 0, "at most this many entities (default 1,000; at most 10,000, or 80 with --q)")
	flags.BoolVar(&explain, "explain", false, "show how the read went")
	readFlags(flags, &q.Read)
	return c
}

func graphTable(t *table, raw []byte) error {
	var got client.GraphAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	if len(got.Nodes) > 0 {
		t.row("ENTITY", "EDGES", "FACTS")
	}
	for _, n := range got.Nodes {
		t.row(n.ID, fmt.Sprint(n.Degree), fmt.Sprint(n.FactCount))
	}
	t.line("%d of %s, %d of %s", len(got.Nodes), count(got.TotalNodes, "entity", "entities"), len(got.Edges), count(got.TotalEdges, "edge", "edges"))
	limits(t, got.Limited, got.Hints)
	return nil
}
