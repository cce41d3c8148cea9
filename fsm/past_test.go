package fsm_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// TestListsOfThePast: a page of what held at an instant, or was known then, is the head
// of the whole list, whichever way it is read; and it costs no look at each fact that
// came later.
func TestListsOfThePast(t *testing.T) {
	s := newBenchStore(t, fsm.Options{})
	defer s.m.Close()
	random := rand.New(rand.NewPCG(7, 8))
	var known []fact.Instant
	for round := range 3 {
		var requests [][]byte
		for i := range 1500 {
			from := fact.NoInstant
			if random.IntN(3) == 0 {
				from = benchStart + fact.Instant(random.IntN(8)-4)*1000
			}
			requests = append(requests, s.request(fmt.Sprintf("Past:s%04d", i), "p"+strconv.Itoa(i%3), "v"+strconv.Itoa(round*2+i%2), from))
		}
		s.apply(t, requests)
		known = append(known, s.now)
		s.now += 1000
	}
	view, err := s.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	points := []fact.At{
		{Now: s.now, AsOf: benchStart - 1500, KnownAt: fact.NoInstant}, {Now: s.now, AsOf: known[1], KnownAt: fact.NoInstant},
		{Now: s.now, AsOf: fact.NoInstant, KnownAt: known[1]}, {Now: s.now, AsOf: benchStart, KnownAt: known[1]},
	}
	for _, at := range points {
		all := facts(t, view, benchScope(), at)
		queries := []fact.Query{{}, {Predicate: "p1"}, {Objects: []fact.Object{fact.TextObject("v2")}}}
		if at.AsOf.Given() {
			queries = append(queries, fact.Query{TxGtGiven: true, TxGt: 700}, fact.Query{TxGtGiven: true, TxGt: 700, Predicate: "p1"})
		}
		for _, q := range queries {
			q.Scope, q.At = benchScope(), at
			want := slices.DeleteFunc(slices.Clone(all), func(f fact.Fact) bool {
				return q.Predicate != "" && f.Predicate != q.Predicate || len(q.Objects) > 0 && !f.Object.Equal(q.Objects[0]) || f.Tx <= q.TxGt
			})
			if q.TxGtGiven { // each is of a tx of its own
				slices.Reverse(want)
			}
			for _, limit := range []int{1, 10_000} {
				for _, short := range []int{1, 1 << 30} {
					view.SetPatience(short, fsm.MaxMisses)
					q.Limit = limit
					page, err := view.Facts(t.Context(), &q)
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprintf("%+v, lists up to %d", q, short), page.Facts, want[:min(limit, len(want))])
				}
			}
		}
	}
	q := &fact.Query{Scope: benchScope(), At: fact.At{Now: s.now, AsOf: benchStart - 5000, KnownAt: fact.NoInstant}, Limit: 1}
	view.SetPatience(fsm.ShortList, fsm.MaxMisses)
	page, err := view.Facts(t.Context(), q)
	if err != nil || len(page.Facts) != 0 || page.Scan.Scanned > 4*fsm.ShortList {
		t.Errorf("before all facts there are %d, and %d of 4,500 were looked at: %v", len(page.Facts), page.Scan.Scanned, err)
	}
}

// TestPassesEndWithTheirRequest: a look through rows that finds none ends when nobody waits
// for it any more.
func TestPassesEndWithTheirRequest(t *testing.T) {
	s := newBenchStore(t, fsm.Options{})
	defer s.m.Close()
	for round := range 2 {
		var requests [][]byte
		for i := range 6000 {
			requests = append(requests, s.request("Past:s"+strconv.Itoa(i), "p", "v"+strconv.Itoa(round), fact.NoInstant))
		}
		s.apply(t, requests)
		s.now += 1000
	}
	view, err := s.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, at := range []fact.At{{Now: s.now, AsOf: benchStart - 1, KnownAt: fact.NoInstant}, {Now: s.now, AsOf: fact.NoInstant, KnownAt: benchStart - 1}} {
		err := view.Each(gone, &fact.Query{Scope: benchScope(), At: at}, func(*fact.Fact) bool { return true })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("each fact at %+v: %v", at, err)
		}
	}
}

// facts lists what holds at a point of both times, found without the help of any index:
// among all versions that were seen then.
func facts(t *testing.T, view *fsm.View, scope fact.Scope, at fact.At) []fact.Fact {
	t.Helper()
	statuses, holds := fact.StatusSet(0).With(fact.Active), at.Now
	if at.KnownAt.Given() {
		holds = at.KnownAt
	}
	if at.AsOf.Given() {
		statuses, holds = statuses.With(fact.Superseded), at.AsOf
	}
	every := at
	every.AsOf = fact.NoInstant
	var list []fact.Fact
	err := view.Each(t.Context(), &fact.Query{Scope: scope, At: every, StatusGiven: true, Statuses: fact.AllStatuses}, func(f *fact.Fact) bool {
		if statuses.Has(f.Status) && f.Holds(holds) {
			list = append(list, *f)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b fact.Fact) int { return cmp.Or(cmp.Compare(b.Tx, a.Tx), bytes.Compare(a.ID[:], b.ID[:])) })
	return list
}

// TestNamesOfThePast: subjects and predicates that had facts at a point of both times are
// found behind however many that had none.
func TestNamesOfThePast(t *testing.T) {
	s := newBenchStore(t, fsm.Options{})
	defer s.m.Close()
	random := rand.New(rand.NewPCG(9, 10))
	var known []fact.Instant
	for round := range 3 {
		var requests [][]byte
		for i := range 600 {
			if round > 0 && random.IntN(12) > 0 {
				continue // most subjects have one fact, that they got at first
			}
			from := benchStart + 10_000
			if i%150 > 147 || random.IntN(60) == 0 {
				from = benchStart - fact.Instant(1000*(round+1))
			}
			requests = append(requests, s.request(fmt.Sprintf("Name:s%03d", i), "p"+strconv.Itoa(i%20), "v"+strconv.Itoa(round), from))
		}
		s.apply(t, requests)
		known = append(known, s.now)
		if s.now += 20_000; round == 1 {
			s.fork(t, "b")
		}
	}
	for i := range 600 {
		if i%170 == 3 {
			s.apply(t, [][]byte{s.on("b", fmt.Sprintf("Name:s%03d", i), "on_b", benchStart-4000)})
		}
	}
	view, err := s.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	var points []fact.At
	for _, asOf := range []fact.Instant{benchStart - 5000, benchStart - 2500, benchStart - 1500, benchStart, s.now, fact.NoInstant} {
		for _, knownAt := range []fact.Instant{benchStart, known[0], known[1], fact.NoInstant} {
			if asOf.Given() || knownAt.Given() {
				points = append(points, fact.At{Now: s.now, AsOf: asOf, KnownAt: knownAt})
			}
		}
	}
	for i := range 2 * len(points) {
		scope, at := benchScope(), points[i/2]
		if i%2 > 0 {
			scope.Branch = "b"
		}
		counts, predicates := map[string]int{}, map[string]bool{}
		for _, f := range facts(t, view, scope, at) {
			counts[f.Subject]++
			predicates[f.Predicate] = true
		}
		var entities []fact.Entity
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			entities = append(entities, fact.Entity{ID: name, FactCount: counts[name]})
		}
		got, err := view.Entities(t.Context(), &fact.EntityQuery{Scope: scope, At: at, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("entities of %+v at %+v", scope, at), got, entities)
		if len(entities) > 3 { // page by page
			got, err = view.Entities(t.Context(), &fact.EntityQuery{Scope: scope, At: at, Limit: 2, After: entities[0].ID})
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("two entities of %+v at %+v", scope, at), got, entities[1:3])
		}
		names, err := view.Predicates(t.Context(), scope, at, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("predicates of %+v at %+v", scope, at), names, slices.Sorted(maps.Keys(predicates)))
	}
}

// fork makes a branch of main as it is now.
func (s *benchStore) fork(t *testing.T, name string) {
	t.Helper()
	s.apply(t, [][]byte{entry.EncodeRequest(&fact.Request{Tenant: benchTenant, Branch: fact.MainBranch,
		Branching: &fact.BranchChange{Op: fact.BranchCreate, Name: name, Parent: fact.MainBranch, AsOf: fact.NoInstant}})})
}

// on is a dated assert on a branch.
func (s *benchStore) on(branch, subject, predicate string, from fact.Instant) []byte {
	return entry.EncodeRequest(&fact.Request{Tenant: benchTenant, Branch: branch, Threshold: fact.DefaultThreshold, Write: &fact.Write{
		Asserts: []fact.Assert{{ID: s.id(), Subject: subject, Predicate: predicate, Object: fact.TextObject("v"),
			ValidFrom: from, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant}}}})
}
