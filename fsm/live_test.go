package fsm_test

import (
	"context"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestLiveAnswersAsAView: what the hot timelines answer is what a view answers.
func TestLiveAnswersAsAView(t *testing.T) {
	r := model.NewRandom(77)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	answered, whole := 0, 0
	for range 400 {
		n.step(r.Step())
		random, line := r.Query(), &fact.Query{Scope: fact.Scope{Tenant: "ta", Branch: fact.MainBranch}, Subject: "Person:a", Predicate: "works_at"}
		subject := *line
		subject.Predicate = ""
		for _, q := range []*fact.Query{random, line, &subject} {
			if q != random {
				q.At = fact.Present(n.m.Position().RecordedAt)
			}
			page, at, ok := n.m.Live(q)
			want := viewed(t, n.m, q) // which also makes a subject known for the next round
			if q != random {
				same(t, "facts by view", want, stored(t, n.m, q))
			}
			if !ok {
				continue
			}
			answered++
			if q.Predicate == "" {
				whole++
			}
			if at != n.m.Position() {
				t.Fatalf("it was read at %+v; the machine stands at %+v", at, n.m.Position())
			}
			same(t, "live facts", page.Facts, want)
			again, _, _ := n.m.Live(q)
			same(t, "live facts, read again", again.Facts, want)
		}
	}
	if answered < 300 || whole < 50 {
		t.Fatalf("of 1,200 reads %d were answered from memory, %d of them of whole subjects", answered, whole)
	}
}

// TestThePastOfAHotSubject: of a subject whose present rows are in memory, every
// earlier state is the one that the store tells, by tx and by the clock.
func TestThePastOfAHotSubject(t *testing.T) {
	r := model.NewRandom(78)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	found := 0
	for i := range 300 {
		n.step(r.Step())
		now := n.m.Position()
		live := &fact.Query{Scope: fact.Scope{Tenant: "ta", Branch: fact.MainBranch}, Subject: "Person:a", At: fact.Present(now.RecordedAt)}
		viewed(t, n.m, live) // now it is hot
		tx := 1 + uint64(i*37)%max(now.Tx, 1)
		recorded := recordTime(t, n.m, tx)
		pinned, known := *live, *live
		pinned.At.Tx, pinned.At.Pinned = tx, true
		known.At.KnownAt = recorded
		for _, q := range []*fact.Query{&pinned, &known} {
			q.At.Now = recorded
			want := stored(t, n.m, q)
			same(t, "the past of a hot subject", viewed(t, n.m, q), want)
			found += len(want)
		}
	}
	if found < 300 {
		t.Fatalf("600 reads of the past found %d facts", found)
	}
}

func recordTime(t *testing.T, m *fsm.Machine, tx uint64) fact.Instant {
	t.Helper()
	v, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	at, err := v.RecordTime(context.Background(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func viewed(t *testing.T, m *fsm.Machine, q *fact.Query) []fact.Fact {
	t.Helper()
	v, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	page, err := v.Facts(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page.Facts
}

// stored is what a live read answers, without anything that is kept in memory: the
// active facts, of those the ones that hold (C-20).
func stored(t *testing.T, m *fsm.Machine, q *fact.Query) []fact.Fact {
	t.Helper()
	all := *q
	all.StatusGiven, all.Statuses, all.Limit = true, fact.StatusSet(0).With(fact.Active), fact.MaxLimit
	return slices.DeleteFunc(viewed(t, m, &all), func(f fact.Fact) bool { return !f.Holds(q.At.Now) })
}
