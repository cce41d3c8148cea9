package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var reports = &kind{path: client.ReportsPath, rows: "reports", field: "name", times: true, list: reportsTable, one: editionTable}

func reportCommand(a *app) *cobra.Command {
	return group("report", "Tell what happened to the facts, by a schedule or now", "", `  abagraph report set weekly --title 'The week' --schedule '0 7 * * 1' --window 604800
  abagraph report run weekly
  abagraph report show weekly
  abagraph report list`,
		reportSetCommand(a),
		reports.listCommand(a, "List reports with their last and next runs", false),
		reports.getCommand(a, "Show a report and the figures of its newest edition"), reportShowCommand(a), reportRunCommand(a),
		reports.doCommand(a, "Stop the scheduled runs of a report", action{verb: "pause", method: "POST", suffix: "/pause"}),
		reports.doCommand(a, "Let a report be made again", action{verb: "resume", method: "POST", suffix: "/resume"}),
		reports.deleteCommand(a, "Delete a report, and take down its page"))
}

func reportSetCommand(a *app) *cobra.Command {
	var w client.Write
	var n client.NewReport
	var explain, dryRun bool
	var doubt float64
	c := &cobra.Command{
		Use:               "set NAME",
		Short:             "Declare a report, or change it",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: reports.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			n.Name = args[0]
			if c.Flags().Changed("low-confidence") {
				n.LowConfidence = &doubt
			}
			body, err := json.Marshal(n)
			if err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.ReportsPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.writeWith(c.Context(), call, "", explain, dry(dryRun), editionTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&n.Title, "title", "", "title of its page")
	flags.StringVar(&n.Schedule, "schedule", "", "cron expression of five fields, or such as @daily; none = only when it is asked for")
	flags.StringVar(&n.Timezone, "timezone", "", "zone of the schedule, such as Europe/Berlin (default UTC)")
	flags.Int64Var(&n.WindowSecs, "window", 0, "seconds that it looks back (default 86,400)")
	flags.StringSliceVar(&n.Sections, "sections", nil, "its sections (default all): changes, contradictions, new_entities, candidates, low_confidence, stale, sources, agents, alerts")
	flags.IntVar(&n.Limit, "limit", 0, "rows of a section (default 20, at most 50)")
	flags.StringVar(&n.Subject, "subject", "", "only facts of this subject")
	flags.StringVar(&n.Predicate, "predicate", "", "only facts of this predicate")
	flags.Float64Var(&doubt, "low-confidence", 0, "confidence below which a fact is told (default 0.8)")
	flags.Int64Var(&n.StaleSecs, "stale", 0, "age in seconds beyond which a fact is told (default 90 days)")
	flags.BoolVar(&n.Paused, "paused", false, "declare it without letting it run")
	flags.BoolVar(&dryRun, "dry-run", false, "write nothing, and show what it would say now")
	retriable(flags, &w, &explain)
	return c
}

func dry(on bool) func(url.Values) {
	return func(query url.Values) {
		if on {
			query.Set("dry_run", "1")
		}
	}
}

func reportRunCommand(a *app) *cobra.Command {
	var explain, dryRun bool
	c := &cobra.Command{
		Use:               "run NAME",
		Short:             "Make an edition now",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: reports.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "POST", Path: client.ReportPath(args[0]) + "/run", Once: true}
			return a.writeWith(c.Context(), call, "", explain, dry(dryRun), editionTable)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "keep nothing")
	c.Flags().BoolVar(&explain, "explain", false, "show how it went")
	return c
}

// reportShowCommand writes the newest edition as Markdown, whoever reads it.
func reportShowCommand(a *app) *cobra.Command {
	var q client.Read
	c := &cobra.Command{
		Use:               "show NAME",
		Short:             "Write the newest edition as Markdown, or the one of a time",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: reports.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			defer server.Close()
			query := q.Values()
			query.Set("format", "md")
			got, err := server.Do(c.Context(), client.Call{Method: "GET", Path: client.ReportPath(args[0]), Query: query})
			if err != nil {
				return a.explainDenial(err)
			}
			_, err = a.out.Write(got.Body)
			return err
		},
	}
	travels(c.Flags(), &q)
	return c
}

func reportsTable(t *table, raw []byte) error {
	var list struct {
		Reports []client.Report `json:"reports"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Reports) > 0 {
		t.row("REPORT", "WHEN", "LAST", "NEXT")
	}
	for i := range list.Reports {
		n := &list.Reports[i]
		t.row(n.Name, comesWhen(n), lastReport(n), nextReport(n))
	}
	t.line("%s", count(len(list.Reports), "report", "reports"))
	return nil
}

func comesWhen(n *client.Report) string {
	if n.Schedule == "" {
		return "when asked for"
	}
	return strings.TrimSpace(n.Schedule + " " + n.Timezone)
}

func lastReport(n *client.Report) string {
	if n.Last == nil {
		return "never"
	}
	return n.Last.Outcome + " " + when(n.Last.Since)
}

func nextReport(n *client.Report) string {
	if n.Paused {
		return "paused"
	}
	return instant(n.Next)
}

// editionTable shows a report and the figures of its edition.
func editionTable(t *table, raw []byte) error {
	var n client.ReportAnswer
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	t.row("report", n.Report.Name)
	t.row("when", comesWhen(&n.Report))
	t.row("window", fmt.Sprintf("%d s", n.Report.WindowSecs))
	t.row("last", lastReport(&n.Report))
	if n.Report.Last != nil && n.Report.Last.Problem != nil {
		t.row("problem", *n.Report.Last.Problem)
	}
	t.row("next", nextReport(&n.Report))
	t.row("page", n.Report.Page)
	if n.Edition == nil {
		t.line("no edition yet")
		return nil
	}
	t.row("edition", when(n.Edition.From)+" to "+when(n.Edition.To))
	for _, s := range n.Edition.Sections {
		t.row(s.Name, figures(s.Counts))
	}
	limits(t, false, n.Warnings)
	return nil
}

func figures(counts map[string]int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}
