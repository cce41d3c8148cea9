package quality

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/internal/words"
	"abagraph/memory"
)

// TestQuestionsInWords asks every question of the shared files as it is written,
// with the date read from its words and the record time that it was asked for, and
// counts how often the first hit is a right answer: of the subject and predicate
// in question, with one of the objects that held. No file is asked in another way
// than the others.
func TestQuestionsInWords(t *testing.T) {
	dir := shared(t)
	if dir == "" {
		return
	}
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	node := onenode.Start(t)
	door := node.Service(t, memory.Options{Words: table})
	for _, f := range files {
		load(t, node, f.name, lines[row](t, filepath.Join(dir, f.name+".jsonl")))
		questions := some(lines[question](t, filepath.Join(dir, f.name+".questions.jsonl")))
		typed := 0.0
		for _, q := range questions {
			typed += byType(t, door, f.name, q)
		}
		n := float64(len(questions))
		share := map[memory.SearchMode]float64{}
		for _, mode := range []memory.SearchMode{memory.LexicalSearch, memory.VectorSearch, memory.HybridSearch} {
			for _, q := range questions {
				share[mode] += byWords(t, door, f.name, mode, q) / n
			}
		}
		t.Logf("%-14s typed %5.1f %%, in words: lexical %5.1f %%, words %5.1f %%, hybrid %5.1f %%", f.name, 100*typed/n,
			100*share[memory.LexicalSearch], 100*share[memory.VectorSearch], 100*share[memory.HybridSearch])
		hybrid := share[memory.HybridSearch]
		if typed != n || hybrid < f.goal || hybrid < share[memory.LexicalSearch] || hybrid < share[memory.VectorSearch] {
			t.Errorf("%s: worse than it has to be", f.name)
		}
	}
}

// some are every fifth question, or all of them where ABAGRAPH_QUALITY is all, as
// `make bench-quality` has it.
func some[T any](questions []T) []T {
	if os.Getenv("ABAGRAPH_QUALITY") == "all" {
		return questions
	}
	var list []T
	for i := 0; i < len(questions); i += 5 {
		list = append(list, questions[i])
	}
	return list
}

// byType asks by subject, predicate and both times.
func byType(t *testing.T, door *memory.Service, tenant string, q question) float64 {
	t.Helper()
	query := &memory.FactsQuery{Read: memory.NewRead(), Subject: q.Subject, Predicate: q.Predicate, Limit: 1000}
	query.AsOf, query.KnownAt = at(t, q.ValidAt), at(t, q.KnownAt)
	page, _, err := door.Facts(t.Context(), caller(tenant), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range page.Facts {
		got[f.Object.Text] = true
	}
	if len(got) != len(q.Objects) || slices.ContainsFunc(q.Objects, func(o string) bool { return !got[o] }) {
		return 0
	}
	return 1
}

// byWords asks in the question's words.
func byWords(t *testing.T, door *memory.Service, tenant string, mode memory.SearchMode, q question) float64 {
	t.Helper()
	query := &memory.SearchQuery{Read: memory.NewRead(), Question: q.Text, Mode: mode, Top: 1}
	query.KnownAt = at(t, q.KnownAt)
	got, _, err := door.Search(t.Context(), caller(tenant), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Hits) == 0 || !right(q, &got.Hits[0].Fact) {
		return 0
	}
	return 1
}

func right(q question, f *fact.Fact) bool {
	return f.Subject == q.Subject && f.Predicate == q.Predicate && slices.Contains(q.Objects, f.Object.Text)
}
