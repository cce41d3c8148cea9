package main

import (
	"github.com/spf13/cobra"

	"abagraph/client"
)

func queryCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "query",
		Short: "List facts",
		Long: `Lists facts, those that hold now unless told otherwise, newest first. --as-of
asks what was so at a time, --known-at as it was known at a time, both together
for what was believed then about that day.`,
		Example: `  abagraph query --subject Person:alice --limit 5
  abagraph query --subject Person:alice --predicate works_at --as-of 2024-01-01 --known-at 2024-02-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), "/api/facts", q.Values(), explain, factTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Subject, "subject", "", "exact subject")
	flags.StringVar(&q.Predicate, "predicate", "", "exact predicate")
	flags.StringVar(&q.Object, "object", "", "exact object")
	flags.StringVar(&q.Status, "status", "", "active, candidate, superseded, retracted, a comma list of them, or all")
	flags.BoolVar(&q.IncludeRetracted, "include-retracted", false, "with --as-of, show retracted facts too")
	flags.StringVar(&q.TxGt, "tx-gt", "", "only facts touched after this tx, oldest first")
	flags.IntVar(&q.Limit, "limit", 0, "at most this many (default 200, at most 10,000)")
	flags.BoolVar(&explain, "explain", false, "show the query plan")
	readFlags(flags, &q.Read)
	return c
}
