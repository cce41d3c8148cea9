package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var alerts = &kind{path: client.AlertsPath, rows: "alerts", field: "name", times: true, list: alertsTable, one: alertTable}

func alertCommand(a *app) *cobra.Command {
	return group("alert", "Watch over facts: confidence, freshness, drift, contradictions, cost", "", `  abagraph alert set stale-crm --kind freshness --threshold 86400 --source 'crm*'
  abagraph alert set doubt --kind confidence --threshold 0.8 --webhook https://hooks.example.com/x --secret hook
  abagraph alert list --state firing
  abagraph stream --predicate alert_state`,
		alertSetCommand(a),
		alerts.listCommand(a, "List alerts with their states", false, filter{"kind", "only those of this kind"}, filter{"state", "only those that are ok or firing"}),
		alerts.getCommand(a, "Show one alert"), alerts.deleteCommand(a, "End an alert"))
}

func alertSetCommand(a *app) *cobra.Command {
	var w client.Write
	var n client.NewAlert
	var explain bool
	c := &cobra.Command{
		Use:               "set NAME --kind KIND --threshold NUMBER",
		Short:             "Make an alert, or change it",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: alerts.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("threshold") {
				return fmt.Errorf("--threshold is missing (see %s --help)", c.CommandPath())
			}
			n.Name = args[0]
			body, err := json.Marshal(n)
			if err != nil {
				return fmt.Errorf("write the alert: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.AlertsPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, alertTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&n.Kind, "kind", "", "what is measured: confidence, freshness, drift, contradictions or cost")
	flags.Float64Var(&n.Threshold, "threshold", 0, "it fires below it (confidence) or above it (all others; freshness counts seconds)")
	flags.Int64Var(&n.WindowSecs, "window", 0, "seconds that drift and cost look back (default 86,400)")
	flags.StringVar(&n.Predicate, "predicate", "", "only facts of this predicate, or of those that begin so: plan*")
	flags.StringVar(&n.Source, "source", "", "only facts of this source, or of those that begin so: crm*")
	flags.StringVar(&n.Webhook, "webhook", "", "address that is told of each new state, or secret:NAME of one that is a secret")
	flags.StringVar(&n.Secret, "secret", "", "name of the secret that signs what the webhook is told")
	retriable(flags, &w, &explain)
	return c
}

func alertsTable(t *table, raw []byte) error {
	var list struct {
		Alerts []client.Alert `json:"alerts"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Alerts) > 0 {
		t.row("ALERT", "KIND", "THRESHOLD", "STATE", "VALUE", "SINCE", "OF")
	}
	for i := range list.Alerts {
		n := &list.Alerts[i]
		t.row(n.Name, n.Kind, decimal(&n.Threshold), orDash(n.State), decimal(n.Value), instant(n.Since), scopeOf(n))
	}
	t.line("%s", count(len(list.Alerts), "alert", "alerts"))
	return nil
}

func decimal(n *float64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func instant(ms *int64) string {
	if ms == nil {
		return "-"
	}
	return when(*ms)
}

// scopeOf says which facts an alert is about.
func scopeOf(n *client.Alert) string {
	switch {
	case n.Predicate != nil && n.Source != nil:
		return *n.Predicate + " from " + *n.Source
	case n.Predicate != nil:
		return *n.Predicate
	case n.Source != nil:
		return "from " + *n.Source
	}
	return "all facts"
}

func alertTable(t *table, raw []byte) error {
	var n client.Alert
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	t.row("alert", n.Name)
	t.row("kind", n.Kind)
	t.row("threshold", decimal(&n.Threshold))
	if n.WindowSecs != nil {
		t.row("window", fmt.Sprintf("%d s", *n.WindowSecs))
	}
	t.row("of", scopeOf(&n))
	if n.Webhook != nil {
		t.row("webhook", *n.Webhook)
		t.row("told", fmt.Sprint(n.Told))
	}
	t.row("state", orDash(n.State))
	t.row("value", decimal(n.Value))
	t.row("since", instant(n.Since))
	return nil
}
