package fsm_test

import (
	"context"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestLiveAnswersAsAView: what the hot timelines answer is what a view answers.
func TestLiveAnswersAsAView(t *testing.T) {
	r := model.NewRandom(77)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	answered := 0
	for range 400 {
		n.step(r.Step())
		q := r.Query()
		page, at, ok := n.m.Live(q)
		if !ok {
			q = &fact.Query{Scope: fact.Scope{Tenant: "ta", Branch: fact.MainBranch}, Subject: "Person:a", Predicate: "works_at", At: fact.Present(n.m.Position().RecordedAt)}
			if page, at, ok = n.m.Live(q); !ok {
				continue
			}
		}
		answered++
		if at != n.m.Position() {
			t.Fatalf("it was read at %+v; the machine stands at %+v", at, n.m.Position())
		}
		v, err := n.m.View()
		if err != nil {
			t.Fatal(err)
		}
		want, err := v.Facts(context.Background(), q)
		v.Close()
		if err != nil {
			t.Fatal(err)
		}
		same(t, "live facts", page.Facts, want.Facts)
	}
	if answered < 100 {
		t.Fatalf("only %d of 400 reads found a hot timeline", answered)
	}
}
