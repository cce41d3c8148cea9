package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func historyCommand(a *app) *cobra.Command {
	return aboutFactCommand(a, "history ID", "Show every version of a fact, and the timeline that it is part of", client.HistoryPath, historyTable)
}

// aboutFactCommand is a command that reads what is told of one fact, by its id.
func aboutFactCommand(a *app, use, short string, path func(id string) string, show func(*table, []byte) error) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), path(args[0]), q.Values(), explain, show)
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

func historyTable(t *table, raw []byte) error {
	var got struct {
		client.History
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	t.row("VERSIONS")
	factRows(t, got.Versions)
	t.row("")
	t.row("TIMELINE")
	factRows(t, got.Timeline)
	for _, warning := range got.Warnings {
		t.line("warning: %s", warning)
	}
	return nil
}
