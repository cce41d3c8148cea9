package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func statsCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count facts, entities and predicates",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), "/api/stats", q.Values(), explain, statsTable)
		},
	}
	c.Flags().BoolVar(&explain, "explain", false, "show how the read went")
	c.Flags().StringVar(&q.Branch, "branch", "", "branch to count")
	c.Flags().StringVar(&q.Consistency, "consistency", "", "linearizable (the default) or stale")
	return c
}

func statsTable(t *table, raw []byte) error {
	var s client.Stats
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	for _, row := range []struct {
		name  string
		count uint64
	}{
		{"facts", s.Facts.Total}, {"  active", s.Facts.Active}, {"  superseded", s.Facts.Superseded}, {"  retracted", s.Facts.Retracted},
		{"  candidate", s.Facts.Candidate}, {"entities", s.Entities}, {"predicates", s.Predicates}, {"tenants", s.Tenants},
	} {
		t.row(row.name, fmt.Sprint(row.count))
	}
	t.row("tenant", s.Tenant)
	t.row("version", s.Version)
	return nil
}
