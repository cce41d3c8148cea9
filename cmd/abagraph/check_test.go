package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPageCommands(t *testing.T) {
	r := serving(t, "")
	saved := r.object("page", "put", "Person:ada", "--title", "Ada", "--body", "Friend of [[Person:charles|Babbage]].\nSee [[Topic:engines]].",
		"--cite", "https://a.example/ada?x=1 the first programmer", "--cite", "https://b.example")
	if saved["created"] != true || len(saved["links"].([]any)) != 2 || len(saved["citations"].([]any)) != 2 {
		t.Errorf("page put wrote %v", saved)
	}
	tx := saved["tx"]
	saved = r.object("page", "put", "Person:ada", "--body", "See [[Topic:engines]].", "--source", "me")
	if saved["created"] != false || saved["source"] != "me" || saved["title"] != nil {
		t.Errorf("page put wrote %v", saved)
	}
	if got := r.object("page", "get", "Person:ada", "--tx", "1"); got["title"] != "Ada" || got["tx"] != tx {
		t.Errorf("page get wrote %v", got)
	}
	if got := r.object("page", "get", "Person:ada", "--explain"); got["explain"].(map[string]any)["op"] != "page" {
		t.Errorf("page get --explain wrote %v", got)
	}
	for want, args := range map[string][]string{
		"SUBJECT is missing":           {"page", "get"},
		"--from is missing":            {"changes"},
		"NotFound: no page: Person:x":  {"page", "get", "Person:x"},
		"at least one of the flags":    {"page", "put", "Person:x"},
		"open the page":                {"page", "put", "Person:x", "--file", "/nowhere"},
		"SchemaInvalid: include_retr":  {"page", "get", "Person:ada", "--include-retracted"},
		"unknown command \"rm\"":       {"page", "rm"},
		"none of the others can be":    {"page", "put", "x", "--file", "y", "--body", "z"},
		"SchemaInvalid: citations[0].": {"page", "put", "x", "--body", "z", "--cite", " "},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	r.terminal = true
	for want, args := range map[string][]string{
		"Ada (Page:Person:ada)\nFriend of [[Person:charles|Babbage]].\nSee [[Topic:engines]].\nlinks to Person:charles\nlinks to Topic:engines\ncites https://a.example/ada?x=1: the first programmer\n": {"page", "get", "Person:ada", "--tx", "1"},
		"saved: 1 fact written, 1 fact superseded, 1 fact retracted\nlink removed: Topic:engines\n":                                                                                                      {"page", "put", "Person:ada", "--body", "nothing", "--source", "me"},
	} {
		if out := r.ok(args...); !strings.Contains(out, want) {
			t.Errorf("abagraph %s wrote %q, want %q", strings.Join(args, " "), out, want)
		}
	}
}

// says runs a command that says its answer in a line before the JSON of it, as the
// documents have it.
func (r *rig) says(want, begins string, args ...string) {
	r.t.Helper()
	line, below, _ := strings.Cut(r.ok(args...), "\n")
	if line != want || !strings.HasPrefix(below, begins) || !json.Valid([]byte(below)) {
		r.t.Errorf("abagraph %s said %q, and %s", strings.Join(args, " "), line, below)
	}
}

func TestCheckCommands(t *testing.T) {
	r := serving(t, "")
	id := r.object("assert", "Person:a", "role", "x", "--valid-from", "2020-01-01", "--source", "hr")["id"].(string)
	r.ok("assert", "Person:a", "role", "x", "--valid-from", "2020-01-01", "--source", "crm")
	r.ok("assert", "Person:a", "role", "y", "--policy", "coexist")
	r.ok("assert", "Person:a", "at", "Org:none")
	if got := r.object("factcheck", "--subject", "Person:a", "--integrity", "--json"); got["count"] != 1.0 || got["dangling_count"] != 1.0 {
		t.Errorf("factcheck wrote %v", got)
	}
	if got := r.object("factcheck", "--coexist", "role", "--kind", "multiple_active", "--json"); got["count"] != 0.0 {
		t.Errorf("factcheck wrote %v", got)
	}
	if got := r.object("changes", "--from", "2019-01-01"); got["added_count"] != 4.0 {
		t.Errorf("changes wrote %v", got)
	}
	if got := r.object("explain", id); got["corroboration"].(map[string]any)["sources"] != 2.0 {
		t.Errorf("explain wrote %v", got)
	}
	r.says("contradictions: 1", "[", "factcheck", "--subject", "Person:a")
	r.says("contradictions: 0", "[", "factcheck", "--subject", "Person:none")
	r.says("contradictions: 1", "{", "factcheck", "--integrity")
	r.says("collapsed: 1 superseded: 1 conflicts: 1", "{", "consolidate", "--dry-run")
	if got := r.object("factcheck", "--explain")["explain"]; got == nil {
		t.Error("factcheck --explain wrote no explanation")
	}
	if got := r.object("consolidate", "--dry-run", "--json"); got["collapsed"] != 1.0 || got["dry_run"] != true {
		t.Errorf("consolidate wrote %v", got)
	}
	for want, args := range map[string][]string{
		"SchemaInvalid: kind has no such value": {"factcheck", "--kind", "x"},
		"SchemaInvalid: axis":                   {"changes", "--from", "1", "--axis", "x"},
		"NotFound: fact x not found":            {"explain", "x"},
		"unknown command":                       {"consolidate", "now"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	r.terminal = true
	for _, c := range []struct {
		want string
		args []string
	}{
		{"\ncontradictions: 1\nleads nowhere: Person:a at Org:none\n", []string{"factcheck", "--integrity"}},
		{"4 added, 0 no longer hold (0 retracted, 0 over), 0 still do\n", []string{"changes", "--from", "2019-01-01"}},
		{"2 sources: hr, crm\n", []string{"explain", id}},
		{"collapsed: 1 superseded: 1 conflicts: 1\n", []string{"consolidate"}},
		{"collapsed: 0 superseded: 0 conflicts: 1\n", []string{"consolidate"}},
	} {
		if out := r.ok(c.args...); !strings.Contains(out, c.want) {
			t.Errorf("abagraph %s wrote %q, want %q", strings.Join(c.args, " "), out, c.want)
		}
	}
}

// A source is shown first, and then taken back.
func TestSourceUndo(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Contact:a", "role", "admin", "--source", "crm/1")
	r.ok("assert", "Contact:b", "role", "admin", "--source", "other")
	if dry := r.object("source", "undo", "crm/1", "--dry-run"); dry["retracted"] != 1.0 || len(dry["sample"].([]any)) != 1 {
		t.Errorf("the dry run wrote %v", dry)
	}
	if done := r.object("source", "undo", "crm/1"); done["retracted"] != 1.0 || done["remaining"] != 0.0 {
		t.Errorf("undo wrote %v", done)
	}
	if got := r.objects(); got != `"admin"` {
		t.Errorf("left: %s", got)
	}
}

// A lease is taken, refused to others, shown and ended.
func TestLeaseCommands(t *testing.T) {
	r := serving(t, "")
	taken := r.object("lease", "acquire", "db/1", "--holder", "w1", "--ttl", "60")
	if taken["status"] != "held" || taken["token"] != taken["tx"] {
		t.Errorf("acquire wrote %v", taken)
	}
	if got := r.fails("lease", "acquire", "db/1", "--holder", "w2"); !strings.Contains(got, "is held by w1") {
		t.Errorf("the other is told %q", got)
	}
	if got := r.object("lease", "renew", "db/1", "--holder", "w1"); got["renewed"] != true || got["token"] != taken["token"] {
		t.Errorf("renew wrote %v", got)
	}
	if got := r.object("lease", "get", "db/1"); got["holder"] != "w1" {
		t.Errorf("get wrote %v", got)
	}
	if got := r.object("lease", "release", "db/1", "--holder", "w1"); got["status"] != "released" {
		t.Errorf("release wrote %v", got)
	}
	if got := r.object("lease", "list", "--status", "released"); len(got["leases"].([]any)) != 1 {
		t.Errorf("list wrote %v", got)
	}
}

// A connector is registered, sent a file, shown and deleted.
func TestConnectorCommands(t *testing.T) {
	r := serving(t, "")
	made := r.object("connector", "register", "CRM Contacts", "--subject", "Contact:$id", "--field", "company=works_at", "--field", "role")
	if made["name"] != "crm_contacts" || made["existed"] != false {
		t.Errorf("register wrote %v", made)
	}
	sent := r.object("connector", "send", "crm_contacts", r.file("c.jsonl", "{\"id\":1,\"role\":\"cto\",\"company\":\"Org:a\"}\n{\"role\":1}\n"))
	if sent["asserted"] != 2.0 || sent["skipped"] != 1.0 {
		t.Errorf("send wrote %v", sent)
	}
	sent = r.object("connector", "send", "crm_contacts", r.file("c.csv", "id,role\n2,dev\n"))
	if sent["asserted"] != 1.0 {
		t.Errorf("send of CSV wrote %v", sent)
	}
	if got := r.object("connector", "get", "crm_contacts"); got["ingested"] != 3.0 {
		t.Errorf("get wrote %v", got)
	}
	if got := r.fails("connector", "pull", "crm_contacts"); !strings.Contains(got, "url is not set") {
		t.Errorf("pull said %q", got)
	}
	if got := r.object("connector", "delete", "crm_contacts"); got["deleted"] != "crm_contacts" {
		t.Errorf("delete wrote %v", got)
	}
	if got := r.object("connector", "list"); len(got["connectors"].([]any)) != 0 {
		t.Errorf("list wrote %v", got)
	}
}

// A trigger that cannot be is refused; there are none to list.
func TestTriggerCommands(t *testing.T) {
	r := serving(t, "")
	r.ok("connector", "register", "hook")
	if got := r.fails("trigger", "declare", "nightly", "--connector", "hook", "--schedule", "@daily"); !strings.Contains(got, "has no url") {
		t.Errorf("declare said %q", got)
	}
	if got := r.fails("trigger", "declare", "nightly", "--connector", "hook", "--schedule", "daily"); !strings.Contains(got, "no cron expression") {
		t.Errorf("declare said %q", got)
	}
	if got := r.object("trigger", "list"); len(got["triggers"].([]any)) != 0 {
		t.Errorf("list wrote %v", got)
	}
	if got := r.fails("trigger", "pause", "none"); !strings.Contains(got, "no trigger") {
		t.Errorf("pause said %q", got)
	}
}
