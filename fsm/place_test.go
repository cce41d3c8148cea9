package fsm_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestGetFromIsGet: wherever a fact is remembered to lie, in the present, earlier or
// never, one that is got from there is the one that Get answers, of both times.
func TestGetFromIsGet(t *testing.T) {
	r := model.NewRandom(80)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	places := map[fact.ID][]fact.Place{}
	got, moved := 0, 0
	for i := range 300 {
		before := opened(t, n.m)
		n.step(r.Step())
		scope := fact.Scope{Tenant: "ta", Branch: fact.MainBranch}
		now := n.m.Position()
		all := viewed(t, n.m, &fact.Query{Scope: scope, StatusGiven: true, Statuses: fact.AllStatuses, At: fact.Present(now.RecordedAt), Limit: fact.MaxLimit})
		for _, f := range all {
			p := fact.Place{ID: f.ID, Subject: f.Subject, Predicate: f.Predicate, Status: f.Status, ValidFrom: f.ValidFrom, ValidUntil: f.ValidUntil}
			if known := places[f.ID]; len(known) == 0 || known[len(known)-1] != p {
				places[f.ID] = append(known, p)
			}
		}
		at := fact.Present(now.RecordedAt)
		if tx := uint64(i*37) % max(now.Tx, 1); i%20 == 0 && tx > 0 && tx <= before.Position().Tx {
			at.Tx, at.Pinned, at.Now = tx, true, recordTime(t, n.m, tx)
		}
		if i%10 == 0 { // what a view saw that is behind must not be taken for the present
			getEverywhere(t, before, scope, places, at)
			after := opened(t, n.m)
			few, old := getEverywhere(t, after, scope, places, at)
			after.Close()
			got, moved = got+few, moved+old
		}
		before.Close()
	}
	if got < 1000 || moved < 100 {
		t.Fatalf("%d facts were got, %d of them had moved", got, moved)
	}
}

// opened opens a view, which is closed with the test at the latest.
func opened(t *testing.T, m *fsm.Machine) *fsm.View {
	v, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// getEverywhere gets facts from wherever they lay, again and again, so that they may be
// in memory. It tells how many there are, and how many lay elsewhere before.
func getEverywhere(t *testing.T, v *fsm.View, scope fact.Scope, places map[fact.ID][]fact.Place, at fact.At) (got, moved int) {
	for id, list := range places {
		want, err := v.Get(context.Background(), scope, id, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(slices.Clone(list), fact.Place{ID: id, Subject: "Person:nobody", Predicate: "likes", Status: fact.Active}) {
			f, err := v.GetFrom(context.Background(), scope, &p, at)
			if err != nil || !reflect.DeepEqual(f, want) {
				t.Fatalf("fact %s is got as %+v, not %+v (%v)", id, f, want, err)
			}
		}
		if got++; len(list) > 1 {
			moved++
		}
	}
	return got, moved
}
