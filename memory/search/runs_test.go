package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"abagraph/fact"
)

// TestAPredicatesDocumentsAreThoseThatPass: whatever came, changed, went or got its
// vector late, a filter by predicate leaves the documents that pass it one by one, in
// their order, with the rows that each has.
func TestAPredicatesDocumentsAreThoseThatPass(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	v := withVectors(9_000, 4, 5, true)
	for i := range v.facts {
		v.facts[i].Confidence = 1 - float64(i%3)/4
		if i > 0 && i%50 == 0 {
			v.facts[i].Continues = v.facts[i-1].Statement()
		}
	}
	whole := v.facts
	v.facts, v.past = whole[:5_000], nil
	x := v.index(t)
	v.search(t, x, v.query(v.vectors[0], Vector, 1))
	left := 0
	for n := 5_000; n <= len(whole); n += 500 {
		v.tx = uint64(n)
		x.mu.Lock()
		for i := len(v.facts); i < n; i++ {
			x.add(&whole[i])
		}
		v.facts = whole[:n]
		for range 40 {
			changeOne(x, rnd, v.tx)
		}
		if n%1000 == 0 {
			lost := rnd.Perm(len(x.docs))[:20]
			slices.Sort(lost)
			var ords []uint32
			for _, ord := range lost {
				ords = append(ords, uint32(ord))
			}
			x.remove(ords)
		}
		x.mu.Unlock()
		v.search(t, x, v.query(v.vectors[0], Vector, 1)) // now the vectors are there
		lateVectors(t, x, v, rnd)
		for name, tune := range narrowings(x, v, rnd) {
			for _, predicate := range []string{"rare", "likes", "status"} {
				q := v.query(v.vectors[0], Vector, 1)
				q.Predicate = predicate
				tune(q)
				left += passOneByOne(t, x, q, fmt.Sprintf("%s, of %d facts, %s", predicate, n, name))
			}
		}
	}
	if left < 10_000 {
		t.Errorf("all filters together leave %d documents", left)
	}
}

// changeOne ends a fact, or retracts it.
func changeOne(x *Index, rnd *rand.Rand, tx uint64) {
	ord := uint32(rnd.IntN(len(x.docs)))
	d := &x.docs[ord]
	f := fact.Fact{ID: x.ids[ord], Tx: tx, VersionKnownAt: fact.Instant(tx), ValidFrom: d.from, ValidUntil: fact.Instant(tx), Status: fact.Superseded}
	if rnd.IntN(2) == 0 {
		f.ValidUntil, f.Status = fact.Forever, fact.Retracted
	}
	x.change(ord, &f)
}

// lateVectors gives vectors to some statements that had none, as the job does.
func lateVectors(t *testing.T, x *Index, v *vectored, rnd *rand.Rand) {
	t.Helper()
	in := &intake{x: x, d: x.dense, most: 1 << 40}
	for i := range v.facts {
		if v.vectors[i] == nil && rnd.IntN(8) == 0 {
			v.vectors[i] = around(rnd, v.model.Dim, nil)
			in.batch = append(in.batch, arrived{v.facts[i].ID, v.tx, v.vectors[i]})
		}
	}
	if err := in.keep(); err != nil {
		t.Fatal(err)
	}
}

// narrowings are filters of every kind.
func narrowings(x *Index, v *vectored, rnd *rand.Rand) map[string]func(*Query) {
	active := fact.StatusSet(0).With(fact.Active)
	at := x.docs[rnd.IntN(len(x.docs))].from
	return map[string]func(*Query){
		"all":                 func(*Query) {},
		"active":              func(q *Query) { q.Statuses = active },
		"superseded":          func(q *Query) { q.Statuses = fact.StatusSet(0).With(fact.Superseded) },
		"certain":             func(q *Query) { q.MinConfidence, q.Statuses = 0.7, active },
		"at an early tx":      func(q *Query) { q.Moment, q.Dense.Tx = Moment{Tx: v.tx / 3}, v.tx/3 },
		"before late vectors": func(q *Query) { q.Dense.Tx = v.tx - 1 },
		"known early":         func(q *Query) { q.Moment, q.Statuses = Moment{ByKnown: true, Known: fact.Instant(v.tx / 2)}, active },
		"at a time":           func(q *Query) { q.From, q.Until = at, at+1 },
		"now":                 func(q *Query) { q.From, q.Until, q.Statuses = fact.Instant(v.tx), fact.Instant(v.tx)+1, active },
	}
}

// passOneByOne compares what is gathered with what passes.
func passOneByOne(t *testing.T, x *Index, q *Query, name string) int {
	t.Helper()
	s := x.newDenseSearch(q)
	defer s.done()
	if !s.restrict(x, &q.Filter) {
		t.Fatalf("%s: there is no such predicate", name)
	}
	if err := s.gather(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := passing(s)
	if !slices.Equal(s.columns.ords, want) {
		t.Fatalf("%s: %d candidates, of %d", name, len(s.columns.ords), len(want))
	}
	rows := make([]int32, len(want))
	s.lookUpRows(want, rows)
	if got := s.columns.rows; len(got) > 0 && !slices.Equal(got, rows) {
		t.Fatalf("%s: the rows are %v, not %v", name, got, rows)
	}
	if late := x.dense.latest > q.Dense.Tx; late == (len(s.columns.rows) > 0) && len(want) > 0 {
		t.Fatalf("%s: the rows are listed: %v, though vectors came late: %v", name, !late, late)
	}
	return len(want)
}
