package fsm_test

import (
	"context"
	"fmt"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestLongTimelines: a timeline with more facts at once than are kept in memory
// answers like any other: duplicates are found, a supersession closes them all.
func TestLongTimelines(t *testing.T) {
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	m := model.New()
	now := fact.Instant(1_700_000_000_000)
	tag := func(i int, policy fact.Policy) {
		now++
		s := model.Step{ProposedAt: now, Request: &fact.Request{
			Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
			Write: &fact.Write{Asserts: []fact.Assert{{
				ID: fact.NewID(now, [10]byte{9: 1}), Subject: "Hub:a", Predicate: "tag", Object: fact.TextObject(fmt.Sprint(i)),
				ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, Policy: policy, KnownAt: fact.NoInstant,
			}}},
		}}
		want := s.Apply(m)
		got := n.step(s)
		for _, r := range []*fact.Result{got, want} {
			for i := range r.Asserts {
				r.Asserts[i].ActiveBefore, r.Asserts[i].ActiveAfter = 0, 0
			}
		}
		same(t, fmt.Sprintf("tag %d", i), plain(got), plain(want))
	}
	q := &fact.Query{Scope: fact.Scope{Tenant: "t", Branch: fact.MainBranch}, Subject: "Hub:a", Predicate: "tag", Limit: 1000}
	check := func() {
		v, err := n.m.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		q.At = fact.Present(now)
		page, err := v.Facts(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "tags", bareAll(page.Facts), bareAll(m.Facts(q)))
	}
	for i := range 150 {
		tag(i, fact.Coexist)
		tag(i/2, fact.Coexist) // said before
		if i%25 == 0 {
			check()
		}
	}
	check()
	tag(7, fact.AutoSupersede)
	check()
	tag(8, fact.AutoSupersede)
	check()
}
