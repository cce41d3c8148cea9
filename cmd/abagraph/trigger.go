package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var triggers = &kind{path: client.TriggersPath, rows: "triggers", field: "name", list: triggersTable, one: triggerTable}

func triggerCommand(a *app) *cobra.Command {
	return group("trigger", "Have connectors pulled by a schedule, or when their source has changed", "", `  abagraph trigger declare nightly --connector feed --schedule '30 2 * * *' --timezone Europe/Berlin
  abagraph trigger list
  abagraph trigger pause nightly`,
		triggerDeclareCommand(a), triggers.listCommand(a, "List triggers with their last and next runs", false), triggers.getCommand(a, "Show one trigger"),
		triggers.doCommand(a, "Stop the runs of a trigger", action{verb: "pause", method: "POST", suffix: "/pause"}),
		triggers.doCommand(a, "Let a trigger run again", action{verb: "resume", method: "POST", suffix: "/resume"}),
		triggers.doCommand(a, "Run a trigger now", action{verb: "run", method: "POST", suffix: "/run", once: true}),
		triggers.deleteCommand(a, "Delete a trigger; its connector stays"))
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
