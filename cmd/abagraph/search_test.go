package main

import (
	"strings"
	"testing"

	"abagraph/client"
)

func TestSearchAsAUser(t *testing.T) {
	r := serving(t, "")
	if !strings.Contains(r.ok("--help"), "\n  search ") {
		t.Error("search is in no list of commands")
	}
	r.ok("assert", "Person:alice", "works_at", "Company:acme", "--valid-from", "2020-01-01", "--source", "crm")
	r.ok("assert", "Person:alice", "works_at", "Company:beta", "--valid-from", "2024-06-01")
	r.ok("assert", "Person:bob", "said", "the price is too high")

	first := func(args ...string) string {
		t.Helper()
		hits := r.object(append([]string{"search"}, args...)...)["answer_facts"].([]any)
		if len(hits) == 0 {
			return ""
		}
		return hits[0].(map[string]any)["object"].(string)
	}
	for want, args := range map[string][]string{
		"Company:beta":          {"where does alice work?"},
		"Company:acme":          {"where did alice work in March 2021"},
		"the price is too high": {"what does it cost", "--top-k", "1"},
		"":                      {"what does it cost", "--mode", "lexical"},
	} {
		if got := first(args...); got != want {
			t.Errorf("search %q wrote %q, want %q", args, got, want)
		}
	}
	if got := first("alice", "--as-of", "2021-01-01", "--subject", "Person:alice", "--predicate", "works_at", "--min-confidence", "0.5", "--min-score", "-100",
		"--order", "desc", "--status", "all", "--include-retracted", "--seeds", "Company:acme,Person:bob"); got != "Company:acme" {
		t.Errorf("with every flag: %q", got)
	}
	if got := r.object("search", "alice", "--explain")["explain"].(map[string]any)["op"]; got != "search" {
		t.Errorf("explain: %v", got)
	}
	for want, args := range map[string][]string{
		"SchemaInvalid: mode has no such value: fuzzy (hybrid, lexical or vector)": {"search", "alice", "--mode", "fuzzy"},
		"SchemaInvalid: top_k ": {"search", "alice", "--top-k", "5000"},
	} {
		if got := r.fails(args...); !strings.HasPrefix(got, want) {
			t.Errorf("%q said %q", args, got)
		}
	}
	r.terminal = true
	out := r.ok("search", "where did alice work on 2021-03-01")
	for _, want := range []string{"SCORE", "Company:acme", "2020-01-01", "crm", "alice", "1 fact, hybrid ranking, searched on 2021-03-01"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}

	c, err := client.New(r.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	least := 0.0
	got, err := c.Search(t.Context(), client.SearchQuery{Question: "where did alice work before 2021", TopK: 1, Seeds: []string{"Person:alice"}, MinScore: &least, MinConfidence: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	h := got.Hits[0]
	if got.Mode != "hybrid" || h.Object.Text != "Company:acme" || h.Score <= 0 || len(h.Why.Matches) == 0 || got.Time == nil || got.Time.From != nil || *got.Time.Until != 1609459200000 || got.Tx == 0 {
		t.Errorf("the client got %+v", got)
	}
}
