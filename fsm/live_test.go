package fsm_test

import (
	"context"
	"slices"
	"strconv"
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

// TestHotSubjectsInEveryStatus: whatever statuses are asked for, at whatever instants of
// both times, memory answers what the store does, of a subject and of its timelines.
func TestHotSubjectsInEveryStatus(t *testing.T) {
	r := model.NewRandom(79)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	found, calm := map[fact.Status]int{}, 0
	for i := range 400 {
		n.step(r.Step())
		if i%4 == 0 { // one more of a subject that has no facts but active ones
			n.step(model.Step{ProposedAt: n.m.Position().RecordedAt + 1, Request: &fact.Request{
				Tenant: "ta", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{Asserts: []fact.Assert{{
					ID: fact.NewID(n.m.Position().RecordedAt+1, [10]byte{byte(i >> 8), byte(i)}), Subject: "Person:calm", Predicate: []string{"works_at", "knows"}[i/4%2], Object: fact.TextObject(strconv.Itoa(i)),
					Confidence: 1, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant, Policy: fact.Coexist,
				}}},
			}})
		}
		now := n.m.Position()
		q := &fact.Query{
			Scope: fact.Scope{Tenant: "ta", Branch: fact.MainBranch}, Subject: []string{"Person:a", "Person:b", "Person:calm"}[i%3], Predicate: []string{"", "works_at", "knows"}[i%7%3],
			StatusGiven: true, Statuses: (fact.StatusSet(i/3%16) << 1).With(fact.Active), Limit: fact.MaxLimit, At: fact.Present(now.RecordedAt),
		}
		switch tx := 1 + uint64(i*37)%max(now.Tx, 1); i % 5 {
		case 1:
			q.At.Tx, q.At.Pinned, q.At.Now = tx, true, recordTime(t, n.m, tx)
		case 2:
			q.At.KnownAt = recordTime(t, n.m, tx)
			q.At.Now = q.At.KnownAt
		}
		at := q.At.Now - fact.Instant(i%4)*10
		// Without an instant it is read from the store.
		want := slices.DeleteFunc(viewed(t, n.m, q), func(f fact.Fact) bool { return !f.Holds(at) })
		q.At.AsOf = at
		for range 2 {
			same(t, "a hot subject", viewed(t, n.m, q), want)
		}
		for i := range want {
			found[want[i].Status]++
		}
		if q.Subject == "Person:calm" {
			calm += len(want)
		}
	}
	for status := fact.Active; status <= fact.Retracted; status++ {
		if found[status] == 0 {
			t.Errorf("no %s fact was ever found: %v", status, found)
		}
	}
	if calm < 500 {
		t.Errorf("of the subject whose facts are all active %d were found", calm)
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
