package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

func pathCommand(a *app) *cobra.Command {
	var q client.PathQuery
	var explain bool
	c := &cobra.Command{
		Use:   "path FROM TO",
		Short: "Find the shortest paths between two entities",
		Long: `Finds all shortest chains of edges between two entities, following edges in
either direction unless told otherwise.`,
		Example: `  abagraph path Person:alice Person:bob
  abagraph path Person:alice City:paris --direction out --as-of 2024-01-01`,
		Args: exactArgs("FROM", "TO"),
		RunE: func(c *cobra.Command, args []string) error {
			q.From, q.To = args[0], args[1]
			if c.Flags().Changed("depth") && q.Depth == 0 {
				return fact.Invalid("--depth", "must be a whole number from 1 to 16")
			}
			return a.read(c.Context(), "/api/path", q.Values(), explain, pathTable)
		},
	}
	flags := c.Flags()
	flags.IntVar(&q.Depth, "depth", 0, "the longest path to look for, 1 to 16 (default 6)")
	edgeFlags(flags, &q.Direction, &q.EdgeTypes, "both")
	flags.IntVar(&q.Limit, "limit", 0, "at most this many paths (default 10, at most 100)")
	flags.BoolVar(&explain, "explain", false, "show how the search went")
	readFlags(flags, &q.Read)
	return c
}

func pathTable(t *table, raw []byte) error {
	var got client.PathAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	for i, path := range got.Paths {
		if len(path) == 0 {
			continue
		}
		if i == 0 {
			edgeHead(t)
		} else {
			t.row("")
		}
		edgeRows(t, path)
	}
	if got.Length == nil {
		t.line("no path")
	} else {
		t.line("%s of %s", count(len(got.Paths), "path", "paths"), count(*got.Length, "edge", "edges"))
	}
	limits(t, got.Limited, got.Hints)
	return nil
}
