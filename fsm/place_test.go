package fsm_test

import (
	"context"
	"reflect"
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
		if i%10 > 0 {
			continue
		}
		at := fact.Present(now.RecordedAt)
		if tx := uint64(i*37) % max(now.Tx, 1); i%20 == 0 && tx > 0 {
			at.Tx, at.Pinned, at.Now = tx, true, recordTime(t, n.m, tx)
		}
		v, err := n.m.View()
		if err != nil {
			t.Fatal(err)
		}
		for id, list := range places {
			want, err := v.Get(context.Background(), scope, id, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(list, fact.Place{ID: id, Subject: "Person:nobody", Predicate: "likes", Status: fact.Active}) {
				f, err := v.GetFrom(context.Background(), scope, &p, at)
				if err != nil || !reflect.DeepEqual(f, want) {
					t.Fatalf("fact %s is got as %+v, not %+v (%v)", id, f, want, err)
				}
			}
			if got++; len(list) > 1 {
				moved++
			}
		}
		v.Close()
	}
	if got < 1000 || moved < 100 {
		t.Fatalf("%d facts were got, %d of them had moved", got, moved)
	}
}
