package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func triggerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "trigger",
		Short: "Have connectors pulled by a schedule, or when their source has changed",
		Example: `  abagraph trigger declare nightly --connector feed --schedule '30 2 * * *' --timezone Europe/Berlin
  abagraph trigger list
  abagraph trigger pause nightly`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(triggerDeclareCommand(a), triggerListCommand(a), triggerGetCommand(a),
		triggerDoCommand(a, "pause", "Stop the runs of a trigger", "POST", "/pause"),
		triggerDoCommand(a, "resume", "Let a trigger run again", "POST", "/resume"),
		triggerDoCommand(a, "run", "Run a trigger now", "POST", "/run"),
		triggerDoCommand(a, "delete", "Delete a trigger; its connector stays", "DELETE", ""))
	return c
}

func triggerDeclareCommand(a *app) *cobra.Command {
	var w client.Write
	var t client.NewTrigger
	var replace, explain bool
	c := &cobra.Command{
		Use:   "declare NAME --connector NAME",
		Short: "Declare a trigger",
		Args:  exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			t.Name = args[0]
			body, err := json.Marshal(t)
			if err != nil {
				return fmt.Errorf("write the trigger: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.TriggersPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			if replace {
				call.Method, call.Path = "PUT", client.TriggerPath(t.Name)
			}
			return a.write(c.Context(), call, "", explain, triggerTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&t.Connector, "connector", "", "connector that is pulled")
	flags.StringVar(&t.Schedule, "schedule", "", "cron expression of five fields, or such as @hourly")
	flags.StringVar(&t.Timezone, "timezone", "", "zone of the schedule, such as Europe/Berlin (default UTC)")
	flags.Int64Var(&t.EverySecs, "every", 0, "seconds between looks at a source that tells what has changed")
	flags.BoolVar(&t.Paused, "paused", false, "declare it without letting it run")
	flags.BoolVar(&replace, "replace", false, "give a trigger that is there these settings")
	retriable(flags, &w, &explain)
	return c
}

func triggerListCommand(a *app) *cobra.Command {
	var q client.Read
	var explain bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List triggers with their last and next runs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), client.TriggersPath, client.Listing{Read: q}.Values(), explain, triggersTable)
		},
	}
	freshness(c.Flags(), &q, &explain)
	return c
}

func triggerGetCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "get NAME",
		Short: "Show one trigger",
		Args:  exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.TriggerPath(args[0]), q.Values(), explain, triggerTable)
		},
	}
	freshness(c.Flags(), &q.Read, &explain)
	return c
}

func triggerDoCommand(a *app, verb, short, method, path string) *cobra.Command {
	var explain bool
	c := &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Args:  exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: method, Path: client.TriggerPath(args[0]) + path, Once: verb == "run"}
			return a.write(c.Context(), call, "", explain, nil)
		},
	}
	c.Flags().BoolVar(&explain, "explain", false, "show how it went")
	return c
}

func triggersTable(t *table, raw []byte) error {
	var list struct {
		Triggers []client.Trigger `json:"triggers"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Triggers) > 0 {
		t.row("TRIGGER", "CONNECTOR", "WHEN", "LAST", "NEXT")
	}
	for i := range list.Triggers {
		one := &list.Triggers[i]
		t.row(one.Name, one.Connector, whenOf(one), lastOf(one), nextOf(one))
	}
	t.line("%s", count(len(list.Triggers), "trigger", "triggers"))
	return nil
}

func whenOf(g *client.Trigger) string {
	if g.Schedule == "" {
		return fmt.Sprintf("changes, each %d s", g.EverySecs)
	}
	return g.Schedule + " " + g.Timezone
}

func lastOf(g *client.Trigger) string {
	if g.Last == nil || g.Last.Outcome == nil {
		return "never"
	}
	return *g.Last.Outcome
}

func nextOf(g *client.Trigger) string {
	switch {
	case g.Paused:
		return "paused"
	case g.Next == nil:
		return ""
	}
	return when(*g.Next)
}

func triggerTable(t *table, raw []byte) error {
	var g client.Trigger
	if err := json.Unmarshal(raw, &g); err != nil {
		return err
	}
	t.row("trigger", g.Name)
	t.row("connector", g.Connector)
	t.row("when", whenOf(&g))
	t.row("next", nextOf(&g))
	if g.Last != nil {
		t.row("last", lastOf(&g))
		if g.Last.Problem != nil {
			t.row("problem", *g.Last.Problem)
		}
	}
	limits(t, false, g.Hints)
	return nil
}
