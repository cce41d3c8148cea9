package main

import (
	"strings"
	"testing"
)

func TestGraphCommands(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Person:alice", "works_at", "Company:acme", "--source", "hr", "--valid-from", "2020-01-01")
	r.ok("assert", "Person:bob", "works_at", "Company:acme")
	r.ok("assert", "Company:acme", "seat", "City:paris", "--valid-from", "2021-01-01")

	for _, command := range []string{"\n  walk ", "\n  path ", "\n  graph "} {
		if out := r.ok("help"); !strings.Contains(out, command) {
			t.Errorf("help does not name%q", command)
		}
	}
	walk := r.object("walk", "Person:alice")
	if walk["start"] != "Person:alice" || len(walk["reached"].([]any)) != 3 || len(walk["edges"].([]any)) != 2 {
		t.Errorf("walk wrote %v", walk)
	}
	if walk := r.object("walk", "Person:alice", "--as-of", "2020-06-01"); len(walk["edges"].([]any)) != 1 {
		t.Errorf("walk of 2020 wrote %v", walk)
	}
	if walk := r.object("walk", "Company:acme", "--direction", "in", "--edge-types", "works_at,seat", "--depth", "1"); len(walk["edges"].([]any)) != 2 {
		t.Errorf("walk into acme wrote %v", walk)
	}
	if walk := r.object("walk", "Person:alice", "--depth", "0"); len(walk["reached"].([]any)) != 1 {
		t.Errorf("walk of depth 0 wrote %v", walk)
	}
	if got := r.object("walk", "Person:alice", "--explain"); got["explain"].(map[string]any)["op"] != "walk" {
		t.Errorf("walk --explain wrote %v", got)
	}
	if path := r.object("path", "Person:alice", "Person:bob"); path["length"] != 2.0 || len(path["paths"].([]any)) != 1 {
		t.Errorf("path wrote %v", path)
	}
	if path := r.object("path", "Person:alice", "Person:bob", "--direction", "out"); path["length"] != nil {
		t.Errorf("path out wrote %v", path)
	}
	if graph := r.object("graph", "--q", "paris", "--limit", "5"); graph["total_nodes"] != 2.0 || graph["total_edges"] != 1.0 {
		t.Errorf("graph wrote %v", graph)
	}
	for want, args := range map[string][]string{
		"START is missing":          {"walk"},
		"TO is missing":             {"path", "a"},
		"SchemaInvalid: depth":      {"walk", "a", "--depth", "17"},
		"SchemaInvalid: direction":  {"path", "a", "b", "--direction", "up"},
		"SchemaInvalid: limit":      {"graph", "--limit", "10001"},
		"unknown flag: --edge-type": {"walk", "a", "--edge-type", "x"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}

	r.terminal = true
	for want, args := range map[string][]string{
		"Person:alice  works_at  Company:acme  2020-01-01":                                    {"walk", "Person:alice"},
		"3 entities and 2 edges\n":                                                            {"walk", "Person:alice"},
		"1 entity and 0 edges\nwarning: no fact mentions Person:x at the time that is read\n": {"walk", "Person:x"},
		"1 path of 2 edges\n":                                                                 {"path", "Person:alice", "Person:bob"},
		"1 path of 0 edges\n":                                                                 {"path", "Person:alice", "Person:alice"},
		"no path\n":                                                                           {"path", "Person:alice", "Person:bob", "--direction", "in"},
		"4 of 4 entities, 3 of 3 edges\n":                                                     {"graph"},
		"1 of 4 entities, 0 of 3 edges\nthere is":                                             {"graph", "--limit", "1"},
	} {
		if out := r.ok(args...); !strings.Contains(out, want) {
			t.Errorf("abagraph %s wrote %q, want %q", strings.Join(args, " "), out, want)
		}
	}
}
