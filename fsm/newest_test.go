package fsm_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
)

// TestListsWithoutAFilterMergePredicates: the list of a whole branch is that of
// all its predicates in one order, for every status and length of page, and the
// same where there are too many predicates to be merged.
func TestListsWithoutAFilterMergePredicates(t *testing.T) {
	s := newBenchStore(t, fsm.Options{})
	defer s.m.Close()
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 120 {
		var requests [][]byte
		for range 1 + random.IntN(4) {
			requests = append(requests, s.request("Merge:s"+strconv.Itoa(random.IntN(9)), "p"+strconv.Itoa(random.IntN(25)), "v"+strconv.Itoa(i), fact.NoInstant))
		}
		s.apply(t, requests)
	}
	view, err := s.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for status := fact.Active; status <= fact.Retracted+1; status++ {
		q := fact.Query{Scope: benchScope(), StatusGiven: true, Statuses: fact.AllStatuses, At: fact.Present(s.now)}
		if status <= fact.Retracted {
			q.Statuses = fact.StatusSet(0).With(status)
		}
		var all []fact.Fact
		if err := view.Each(t.Context(), &q, func(f *fact.Fact) bool { all = append(all, *f); return true }); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b fact.Fact) int { return cmp.Or(cmp.Compare(b.Tx, a.Tx), bytes.Compare(a.ID[:], b.ID[:])) })
		for _, limit := range []int{1, 2, 7, 50, 10_000} {
			want := all[:min(limit, len(all))]
			q.Limit = limit
			for _, heads := range []int{1 << 16, 3} {
				s.m.SetHeads(heads)
				page, err := view.Facts(t.Context(), &q)
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprintf("status %v, limit %d, %d lists", q.Statuses, limit, heads), page.Facts, want)
				if most := limit + 1; status <= fact.Retracted && heads > 3 && page.Scan.Scanned > most {
					t.Errorf("status %v, limit %d: %d entries were looked at", q.Statuses, limit, page.Scan.Scanned)
				}
			}
		}
	}
}
