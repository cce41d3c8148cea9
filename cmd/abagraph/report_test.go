package main

import (
	"strings"
	"testing"
)

// Reports from the shell: declared, previewed, run, shown, paused and deleted.
func TestReportCommands(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Person:ada", "works_at", "Org:acme", "--source", "crm")
	dry := r.object("report", "set", "weekly", "--sections", "changes,sources", "--dry-run")
	if dry["dry_run"] != true || dry["edition"] == nil {
		t.Errorf("a dry run wrote %v", dry)
	}
	r.fails("report", "get", "weekly")
	r.object("report", "set", "weekly", "--title", "The week", "--schedule", "0 7 * * 1", "--window", "604800", "--sections", "changes,sources")
	if got := r.fails("report", "set", "weekly", "--sections", "luck"); !strings.Contains(got, "SchemaInvalid: sections[0] must be one of changes") {
		t.Errorf("set said %q", got)
	}
	r.ok("report", "run", "weekly")
	if got := r.ok("report", "show", "weekly"); !strings.HasPrefix(got, "# The week\n") || !strings.Contains(got, "| added | Person:ada | works\\_at | Org:acme | 1 | crm |") {
		t.Errorf("show wrote %s", got)
	}
	r.terminal = true
	if got := r.ok("report", "get", "weekly"); !strings.Contains(got, "1 added, 0 ended, 0 unchanged") || !strings.Contains(got, "Page:Report:weekly") {
		t.Errorf("get shows %s", got)
	}
	r.ok("report", "pause", "weekly")
	if got := r.ok("report", "list"); !strings.Contains(got, "paused") || !strings.Contains(got, "1 report\n") {
		t.Errorf("list shows %s", got)
	}
	r.terminal = false
	r.ok("report", "resume", "weekly")
	r.ok("report", "delete", "weekly")
	r.fails("report", "show", "weekly")
}
