package fsm_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

const pastFacts = 200_000

// histories are stores of pastFacts facts by the number of their subjects.
var histories sync.Map

// history fills a store with facts of so many subjects, whose new ones supersede
// their old ones.
func history(b *testing.B, subjects int) *benchStore {
	if s, found := histories.Load(subjects); found {
		return s.(*benchStore)
	}
	s := newBenchStore(b, fsm.Options{})
	random := rand.New(rand.NewPCG(uint64(subjects), 2))
	for at := 0; at < pastFacts; {
		var entries []fsm.Committed
		for ; at < pastFacts && len(entries) < 1000; at++ {
			s.index++
			s.now += benchStep
			request := s.request("Bench:s"+strconv.Itoa(random.IntN(subjects)), "p"+strconv.Itoa(at%20), "value "+strconv.Itoa(at), fact.NoInstant)
			entries = append(entries, fsm.Committed{Index: s.index, Term: 1,
				Data: entry.EncodeBatch(entry.Batch{ProposedAt: s.now, Requests: [][]byte{request}})})
		}
		if _, err := s.m.Apply(entries); err != nil {
			b.Fatal(err)
		}
	}
	s.settle(b)
	histories.Store(subjects, s)
	return s
}

// BenchmarkPastList reads a page of ten of what held, or was known, at an instant,
// whoever it is about.
func BenchmarkPastList(b *testing.B) {
	for _, subjects := range []int{1000, 100_000} {
		for _, at := range []string{"as_of=before", "as_of=middle", "as_of=now", "known_at=middle", "predicate,as_of=middle"} {
			b.Run(fmt.Sprintf("subjects=%d/%s", subjects, at), func(b *testing.B) {
				s := history(b, subjects)
				middle := benchStart + (s.now-benchStart)/2
				q := &fact.Query{Scope: benchScope(), At: fact.Present(s.now), Limit: 10}
				switch at {
				case "as_of=before":
					q.At.AsOf = benchStart - 1
				case "as_of=middle":
					q.At.AsOf = middle
				case "as_of=now":
					q.At.AsOf = s.now
				case "known_at=middle":
					q.At.KnownAt = middle
				case "predicate,as_of=middle":
					q.At.AsOf, q.Predicate = middle, "p7"
				}
				view, err := s.m.View()
				if err != nil {
					b.Fatal(err)
				}
				defer view.Close()
				for b.Loop() {
					if page, err := view.Facts(b.Context(), q); err != nil || at != "as_of=before" && len(page.Facts) != 10 {
						b.Fatalf("%v, %+v", err, page)
					}
				}
			})
		}
	}
}
