package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// The workflow of the documents' command reference, and what it leaves.
func TestBranchCommands(t *testing.T) {
	r := serving(t, "")
	if out := r.ok("help"); !strings.Contains(out, "\n  branch ") {
		t.Error("help does not name branch")
	}
	r.ok("assert", "user:alice", "prefers", "dark-mode")
	made := r.object("branch", "create", "experiment")
	if made["name"] != "experiment" || made["status"] != "open" || made["parent"] != "main" {
		t.Errorf("create wrote %v", made)
	}
	if fact := r.object("assert", "user:alice", "prefers", "light-mode", "--branch", "experiment"); fact["branch"] != "experiment" {
		t.Errorf("assert wrote %v", fact)
	}
	for want, args := range map[string][]string{
		`"dark-mode"`:  {"--subject", "user:alice"},
		`"light-mode"`: {"--subject", "user:alice", "--branch", "experiment"},
	} {
		if got := r.objects(args...); got != want {
			t.Errorf("query %v: %s", args, got)
		}
	}
	if stats := r.object("stats", "--branch", "experiment"); stats["facts"].(map[string]any)["superseded"] != 1.0 {
		t.Errorf("stats wrote %v", stats)
	}
	diff := r.object("branch", "diff", "experiment")
	if counts := diff["counts"].(map[string]any); counts["changed"] != 1.0 || counts["added"] != 0.0 {
		t.Errorf("diff wrote %v", diff)
	}
	if dry := r.object("branch", "promote", "experiment", "--dry-run"); dry["dry_run"] != true || dry["promoted"] != 1.0 || dry["status"] != "open" {
		t.Errorf("the dry run wrote %v", dry)
	}
	if done := r.object("branch", "promote", "experiment"); done["ok"] != true || done["promoted"] != 1.0 || done["superseded"] != 1.0 {
		t.Errorf("promote wrote %v", done)
	}
	if got := r.objects("--subject", "user:alice"); got != `"light-mode"` {
		t.Errorf("main has %s", got)
	}
	r.object("branch", "create", "other", "--parent", "main", "--as-of", "2020-01-01")
	if got := r.objects("--branch", "other"); got != "" {
		t.Errorf("a branch from before everything has %s", got)
	}
	if got := r.object("branch", "get", "other"); got["base_tx"] != 0.0 {
		t.Errorf("get wrote %v", got)
	}
	if got := r.object("branch", "discard", "other"); got["ok"] != true || got["discarded"] != 0.0 {
		t.Errorf("discard wrote %v", got)
	}
	file := r.file("branch.jsonl", r.ok("export", "--branch", "experiment"))
	if text := r.ok("export", "--branch", "experiment"); !strings.Contains(text, `"_branch":"experiment"`) {
		t.Errorf("export wrote %s", text)
	}
	r.object("branch", "create", "copy", "--as-of", "2020-01-01")
	if got := r.object("import", file, "--branch", "copy", "--no-state"); got["written"] != 1.0 {
		t.Errorf("import wrote %v", got)
	}
	if text := r.ok("query", "--branch", "copy", "--subject", "user:alice"); strings.Contains(text, "experiment") || !strings.Contains(text, `"light-mode"`) {
		t.Errorf("the copy has %s", text)
	}
	r.object("branch", "discard", "copy")
	var list []map[string]any
	if err := json.Unmarshal([]byte(r.ok("branch", "list")), &list); err != nil || len(list) != 3 || list[1]["name"] != "experiment" || list[2]["status"] != "discarded" {
		t.Errorf("list wrote %v, %v", list, err)
	}
	if err := json.Unmarshal([]byte(r.ok("branch", "list", "--status", "promoted")), &list); err != nil || len(list) != 1 {
		t.Errorf("list --status wrote %v, %v", list, err)
	}
	for want, args := range map[string][]string{
		"NAME is missing":                      {"branch", "create"},
		"SchemaInvalid: name":                  {"branch", "create", "a:b"},
		"Conflict: branch is not open":         {"assert", "a", "b", "c", "--branch", "experiment"},
		"NotFound: no branch: none":            {"query", "--branch", "none"},
		"SchemaInvalid: status has no such":    {"branch", "list", "--status", "closed"},
		"Conflict: branch experiment exists a": {"branch", "create", "experiment"},
	} {
		if out := r.fails(args...); !strings.Contains(out, want) {
			t.Errorf("%v: %s", args, out)
		}
	}
}
