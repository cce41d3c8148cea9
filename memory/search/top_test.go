package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/internal/words"
)

// TestTopAgainstScoringEverything: leaving out windows and clauses that cannot
// matter changes nothing. Over many windows, in every mode, with filters, near
// seeds and at tx of the past, the best are those of scoring every document, with
// the same scores to the last bit.
func TestTopAgainstScoringEverything(t *testing.T) {
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	// A small vocabulary makes long lists, and many equal scores.
	vocabulary := []string{"price", "cost", "budget", "doctor", "physician", "party", "office", "sales", "customer", "market", "team", "house"}
	const n = 4_000
	x := newIndex(fact.Scope{Tenant: "t"})
	if err := x.build(t.Context(), skewed(n, vocabulary), math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range 150 {
		q := randomQuery(rnd, x, vocabulary, n)
		q.Words = table
		got, err := x.search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		p := x.prepare(q)
		var want []scored
		s := &searcher{plan: p}
		there := s.restrict(x, &q.Filter)
		for ord := range p.bound {
			counts, any := make([]uint8, len(p.clauses)), false
			for c := range p.clauses {
				counts[c] = p.clauses[c].list.count(ord)
				any = any || counts[c] > 0
			}
			near := 0.0
			for _, d := range p.near {
				if d.ord == ord {
					near, any = d.gain, true
				}
			}
			if score, _ := p.judge(counts, x.lengths[ord], near); there && any && s.passes(ord) && score >= q.MinScore {
				want = append(want, scored{ord, score})
			}
		}
		slices.SortFunc(want, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ord, a.ord)) })
		want = want[:min(len(want), q.Top)]
		same := len(want) == len(got.Hits)
		for k := 0; same && k < len(want); k++ {
			same = x.ids[want[k].ord] == got.Hits[k].ID && want[k].score == got.Hits[k].Score
		}
		if !same {
			t.Fatalf("query %d, %+v:\n got %v\nwant %v", i, q, got.Hits, want)
		}
	}
}

func randomQuery(rnd *rand.Rand, x *Index, vocabulary []string, n int) *Query {
	q := &Query{Mode: Mode(rnd.IntN(3)), Top: 1 + rnd.IntN(20), MinScore: math.Inf(-1)}
	for range 1 + rnd.IntN(5) {
		q.Text += vocabulary[rnd.IntN(len(vocabulary))] + " "
	}
	if rnd.IntN(2) == 0 {
		q.Text += fmt.Sprintf("what did Person:p%d", rnd.IntN(60))
	}
	q.Moment, q.From, q.Statuses = Moment{Tx: uint64(rnd.IntN(n + 1))}, fact.Instant(rnd.IntN(n)), fact.AllStatuses
	if rnd.IntN(3) == 0 {
		q.Moment = Moment{ByKnown: true, Known: fact.Instant(rnd.IntN(n))}
	}
	q.Until = q.From + fact.Instant(1+rnd.IntN(n))
	switch rnd.IntN(4) {
	case 0:
		q.Subject = fmt.Sprintf("Person:p%d", rnd.IntN(60))
	case 1:
		q.Predicate = "said"
	case 2:
		for range rnd.IntN(40) {
			q.Near = append(q.Near, Near{ID: x.ids[rnd.IntN(len(x.ids))], Proximity: 1 / float64(1+rnd.IntN(2))})
		}
		slices.SortFunc(q.Near, func(a, b Near) int { return slices.Compare(a.ID[:], b.ID[:]) })
		q.Near = slices.CompactFunc(q.Near, func(a, b Near) bool { return a.ID == b.ID })
	}
	if rnd.IntN(4) == 0 {
		q.MinScore = rnd.Float64() * 6
	}
	return q
}
