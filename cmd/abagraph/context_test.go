package main

import (
	"strings"
	"testing"
)

func TestContextCommand(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Person:alice", "works_at", "Company:acme", "--source", "hr", "--valid-from", "2020-01-01")
	r.ok("assert", "Company:acme", "seat", "City:paris", "--valid-from", "2021-01-01")
	if out := r.ok("help"); !strings.Contains(out, "\n  context ") {
		t.Error("help does not name context")
	}
	packet := r.object("context", "where does Person:alice work", "--budget", "500")
	if packet["kind"] != "context_packet" || len(packet["facts"].([]any)) != 2 || packet["prompt_tokens"].(float64) > 500 {
		t.Errorf("context wrote %v", packet)
	}
	if packet := r.object("context", "--seed", "Person:alice", "--as-of", "2020-06-01", "--max-facts", "5", "--no-recent"); len(packet["facts"].([]any)) != 1 {
		t.Errorf("context of 2020 wrote %v", packet)
	}
	if packet := r.object("context", "--seed", "Person:alice", "--max-facts", "0"); len(packet["facts"].([]any)) != 0 {
		t.Errorf("context without facts wrote %v", packet)
	}
	if got := r.object("context", "work", "--explain"); got["explain"].(map[string]any)["op"] != "context" {
		t.Errorf("context --explain wrote %v", got)
	}
	prompt := r.ok("context", "--seed", "Person:alice", "--style", "claude", "--role", "You are Ada.", "--prompt")
	if !strings.HasPrefix(prompt, "You are Ada.\n") || !strings.HasSuffix(prompt, "</memory>\n") {
		t.Errorf("the prompt is %q", prompt)
	}
	for want, args := range map[string][]string{
		"SchemaInvalid: style":        {"context", "--style", "yaml"},
		"SchemaInvalid: max_facts":    {"context", "--max-facts", "1001"},
		"SchemaInvalid: token_budget": {"context", "--budget", "-1"},
		"unknown flag: --seeds":       {"context", "--seeds", "x"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	r.terminal = true
	for _, want := range []string{"Person:alice  works_at  Company:acme", "found 3 entities", "warning: no fact mentions Person:zed"} {
		if out := r.ok("context", "--seed", "Person:alice", "--seed", "Person:zed"); !strings.Contains(out, want) {
			t.Errorf("context wrote %q, want %q", out, want)
		}
	}
}
