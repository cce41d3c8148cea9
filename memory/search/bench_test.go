package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/words"
)

// heap is a source that holds made-up facts in memory.
type heap struct {
	facts []fact.Fact
	past  []fact.Version
	tx    uint64
}

func (h *heap) Position() fact.Position { return fact.Position{Tx: h.tx, Epoch: "e"} }

func (h *heap) EachVersion(_ context.Context, _ fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error {
	for i := range h.facts {
		if !now(&h.facts[i]) {
			return nil
		}
	}
	for i := range h.past {
		if !past(&h.past[i]) {
			return nil
		}
	}
	return nil
}

func (h *heap) Events(_ context.Context, q *fact.EventQuery) (*fact.EventPage, error) {
	return &fact.EventPage{Through: q.After + 1}, nil
}

func (h *heap) IsSubject(context.Context, fact.Scope, string, fact.At) (bool, error) {
	return true, nil
}

func (h *heap) Fact(context.Context, fact.Scope, fact.ID, fact.At) (*fact.Statement, error) {
	return &fact.Statement{}, nil
}

// skewed makes n facts as real data has them: few predicates, entities of which
// some have many facts and most have few, sentences in which some words are in
// every second one; a fifth was superseded since.
func skewed(n int, vocabulary []string) *heap {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	entity := rand.NewZipf(rnd, 1.2, 8, uint64(n/8))
	word := rand.NewZipf(rnd, 1.3, 20, uint64(len(vocabulary)-1))
	predicates := []string{"works_at", "member_of", "lives_in", "likes", "said", "reports_to", "owns", "attended", "status", "note"}
	h := &heap{tx: uint64(n)}
	source := "import/batch-7"
	for i := range n {
		var text strings.Builder
		for range 3 + rnd.IntN(8) {
			text.WriteString(vocabulary[word.Uint64()])
			text.WriteByte(' ')
		}
		f := fact.Fact{
			ID: fact.NewID(fact.Instant(i), [10]byte{}), Subject: fmt.Sprintf("Person:p%d", entity.Uint64()), Predicate: predicates[rnd.IntN(len(predicates))],
			Object: fact.TextObject(text.String()), ValidFrom: fact.Instant(i), ValidUntil: fact.Forever, Confidence: 1, Source: &source,
			Status: fact.Active, Tx: uint64(i + 1), FirstTx: uint64(i + 1), VersionAt: fact.Instant(i), VersionKnownAt: fact.Instant(i),
		}
		if i%5 == 0 {
			h.past = append(h.past, fact.Version{ID: f.ID, Tx: f.Tx, Status: fact.Active, ValidFrom: f.ValidFrom, ValidUntil: fact.Forever, KnownAt: f.VersionKnownAt})
			f.Status, f.ValidUntil, f.Tx, f.VersionKnownAt = fact.Superseded, fact.Instant(n), uint64(n), fact.Instant(n)
		}
		h.facts = append(h.facts, f)
	}
	return h
}

// benchWords are the words of the made-up sentences, the most frequent ones of
// English that say something.
func benchWords(b *testing.B) (*words.Table, []string) {
	b.Helper()
	table, err := words.Load()
	if err != nil {
		b.Fatal(err)
	}
	var list []string
	for _, w := range table.Frequent(12_000) {
		if !common[w] && single(w) != "" {
			list = append(list, w)
		}
	}
	return table, list
}

var benchIndexes sync.Map // by size

func benchIndex(b *testing.B, n int) (*Index, *words.Table, []string) {
	b.Helper()
	table, vocabulary := benchWords(b)
	if x, ok := benchIndexes.Load(n); ok {
		return x.(*Index), table, vocabulary
	}
	x := newIndex(fact.Scope{Tenant: "t"})
	if err := x.build(b.Context(), skewed(n, vocabulary), math.MaxInt64); err != nil {
		b.Fatal(err)
	}
	benchIndexes.Store(n, x)
	return x, table, vocabulary
}

// benchQuestions mixes what is asked: an entity by name, rare words, and words
// that many facts have.
func benchQuestions(vocabulary []string) []string {
	rnd := rand.New(rand.NewPCG(7, 7))
	word := rand.NewZipf(rnd, 1.3, 20, uint64(len(vocabulary)-1))
	var list []string
	for i := range 64 {
		var text strings.Builder
		if i%2 == 0 {
			fmt.Fprintf(&text, "what did Person:p%d say about ", rnd.IntN(1000))
		}
		for range 2 + rnd.IntN(4) {
			text.WriteString(vocabulary[word.Uint64()])
			text.WriteByte(' ')
		}
		list = append(list, text.String())
	}
	return list
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, mode := range []Mode{Lexical, Vector, Hybrid} {
			for _, past := range []bool{false, true} {
				name := fmt.Sprintf("facts=%d/%s/live", n, mode)
				if past {
					name = fmt.Sprintf("facts=%d/%s/past", n, mode)
				}
				b.Run(name, func(b *testing.B) { benchSearch(b, n, mode, past) })
			}
		}
	}
}

func benchSearch(b *testing.B, n int, mode Mode, past bool) {
	x, table, vocabulary := benchIndex(b, n)
	questions := benchQuestions(vocabulary)
	q := &Query{Mode: mode, Words: table, Top: 8, MinScore: math.Inf(-1)}
	q.Statuses = fact.StatusSet(0).With(fact.Active)
	q.Moment, q.From = Moment{Tx: uint64(n)}, fact.Instant(n)
	if past {
		q.Moment, q.From = Moment{Tx: uint64(n / 2)}, fact.Instant(n/3)
		q.Statuses = q.Statuses.With(fact.Superseded)
	}
	q.Until = q.From + 1
	run := func(i int) {
		q.Text = questions[i%len(questions)]
		if _, err := x.search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
	for i := range questions {
		run(i)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		before := time.Now()
		run(i)
		took = append(took, time.Since(before))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(x.size())/float64(n), "B/fact")
}

func BenchmarkBuild(b *testing.B) {
	_, vocabulary := benchWords(b)
	h := skewed(100_000, vocabulary)
	for b.Loop() {
		x := newIndex(fact.Scope{Tenant: "t"})
		if err := x.build(b.Context(), h, math.MaxInt64); err != nil {
			b.Fatal(err)
		}
	}
}

func (h *heap) EachVector(context.Context, fact.Scope, fact.Model, uint64, func(fact.ID, uint64, []float32) bool) error {
	return nil
}

func (h *heap) Vectors(context.Context, fact.Scope, fact.Model, []fact.VectorAt, func(int, []float32)) error {
	return nil
}
