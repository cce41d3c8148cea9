package fsm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

const mebi = 1 << 20

// large is a machine that is given large facts.
type large struct {
	*testing.T
	m     *fsm.Machine
	index uint64
	ids   int
}

func newLarge(t *testing.T) *large {
	t.Helper()
	m, err := fsm.Open(fsm.Options{CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return &large{T: t, m: m}
}

var text = strings.Repeat("0123456789abcde ", mebi/16-48)

func (l *large) fact(subject, predicate string) fact.Assert {
	l.ids++
	return fact.Assert{
		ID: fact.NewID(fact.Instant(l.ids), [10]byte{1}), Subject: subject, Predicate: predicate, Object: fact.TextObject(fmt.Sprint(l.ids, text)),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, Policy: fact.Coexist, KnownAt: fact.NoInstant,
	}
}

func request(w fact.Write) *fact.Request {
	return &fact.Request{Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &w}
}

// entries applies one entry for each group of requests, all in one call.
func (l *large) entries(at fact.Instant, groups ...[]*fact.Request) (results []*fact.Result) {
	l.Helper()
	var committed []fsm.Committed
	for _, group := range groups {
		batch := entry.Batch{ProposedAt: at}
		for _, r := range group {
			batch.Requests = append(batch.Requests, entry.EncodeRequest(r))
		}
		l.index++
		committed = append(committed, fsm.Committed{Index: l.index, Term: 1, Data: entry.EncodeBatch(batch)})
	}
	applied, err := l.m.Apply(committed)
	if err != nil {
		l.Fatal(err)
	}
	for i := range applied {
		results = append(results, applied[i].Results...)
	}
	return results
}

// write applies one batch.
func (l *large) write(at fact.Instant, asserts ...fact.Assert) *fact.Result {
	l.Helper()
	return l.entries(at, []*fact.Request{request(fact.Write{Asserts: asserts})})[0]
}

func (l *large) view() *fsm.View {
	l.Helper()
	v, err := l.m.View()
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(v.Close)
	return v
}

var inT = fact.Scope{Tenant: "t", Branch: fact.MainBranch}

// A list ends early where it has become heavy, says so, and is paged without a
// gap; what is counted is counted in full.
func TestHeavyListsEndEarly(t *testing.T) {
	l := newLarge(t)
	const facts = 36
	for i := range facts {
		l.write(fact.Instant(1000+i), l.fact("Book:1", "page"))
	}
	v, ctx := l.view(), context.Background()
	fits := fact.MaxAnswerBytes / mebi
	pinned := fact.At{Pinned: true, Tx: facts, AsOf: fact.NoInstant, KnownAt: fact.NoInstant}
	for name, q := range map[string]fact.Query{
		"timeline": {Subject: "Book:1", Predicate: "page", At: fact.Present(2000)},
		"scan":     {At: fact.Present(2000)},
		"past":     {Subject: "Book:1", At: pinned},
		"all past": {At: pinned},
	} {
		q.Scope, q.Limit = inT, 100
		page, err := v.Facts(ctx, &q)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(page.Facts); n != fits || !page.Scan.LimitHit || !page.Scan.Heavy || page.Facts[0].Tx != facts {
			t.Errorf("%s: %d facts from tx %d on, %+v", name, n, page.Facts[0].Tx, page.Scan)
		}
		q.Limit = 5
		if page, err = v.Facts(ctx, &q); err != nil || len(page.Facts) != 5 || page.Scan.Heavy {
			t.Errorf("%s with a limit: %d facts, %+v, %v", name, len(page.Facts), page.Scan, err)
		}
		q.Limit, q.TxGtGiven = 100, true
		seen := 0
		for {
			page, err := v.Facts(ctx, &q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Facts) == 0 {
				break
			}
			for i := range page.Facts {
				if seen++; page.Facts[i].Tx != uint64(seen) {
					t.Fatalf("%s: fact %d is of tx %d", name, seen, page.Facts[i].Tx)
				}
			}
			q.TxGt = uint64(seen)
		}
		if seen != facts {
			t.Errorf("%s: %d of %d facts came", name, seen, facts)
		}
	}
	list, err := v.Entities(ctx, &fact.EntityQuery{Scope: inT, At: fact.Present(2000)})
	if err != nil || len(list) != 1 || list[0].FactCount != facts {
		t.Errorf("entities: %v, %v", list, err)
	}
}

// A tx comes whole, however heavy; its events come in parts, each once.
func TestHeavyTransactions(t *testing.T) {
	l := newLarge(t)
	const facts = 40
	var asserts []fact.Assert
	for range facts {
		asserts = append(asserts, l.fact("Book:1", "page"))
	}
	l.write(1000, asserts...)
	l.write(1001, l.fact("Book:2", "page"))
	v, ctx := l.view(), context.Background()
	page, err := v.Facts(ctx, &fact.Query{Scope: inT, At: fact.Present(2000), TxGtGiven: true})
	if err != nil || len(page.Facts) != facts || page.Facts[facts-1].Tx != 1 || !page.Scan.LimitHit {
		t.Errorf("%d facts, %+v, %v", len(page.Facts), page.Scan, err)
	}
	for _, scope := range []fact.Scope{inT, {All: true, Branch: fact.MainBranch}} {
		told := map[fact.ID]int{}
		q := fact.EventQuery{Scope: scope}
		for pages := 0; q.After < 2; pages++ {
			page, err := v.Events(ctx, &q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Events) > 2 || pages > 2*facts {
				t.Fatalf("page %d has %d events", pages, len(page.Events))
			}
			for i := range page.Events {
				told[page.Events[i].Fact.ID]++
			}
			q.After, q.Skip = page.Through, page.Skip
		}
		for id, times := range told {
			if times != 1 {
				t.Errorf("%s was told %d times", id, times)
			}
		}
		if len(told) != facts+1 {
			t.Errorf("%d events were told", len(told))
		}
	}
}

// The lists of a history end early, each by itself, and say so.
func TestHistoryIsBounded(t *testing.T) {
	l := newLarge(t)
	for i := range 12 {
		a := l.fact("Book:1", "page")
		a.ValidFrom = fact.Instant(i)
		l.write(fact.Instant(1000+i), a)
	}
	last := l.fact("Book:1", "page")
	last.ValidFrom = 5
	id := l.write(2000, last).Asserts[0].Fact.ID
	v, ctx := l.view(), context.Background()
	h, err := v.History(ctx, inT, id, 0)
	if err != nil || h.Fact.ID != id || h.PiecesCut || len(h.Pieces) != 1 || !h.TimelineCut || len(h.Timeline) != fact.MaxAnswerBytes/4/mebi || h.Timeline[0].ValidFrom != 0 {
		t.Errorf("%d pieces, %d rows of timeline, cut %v, %v", len(h.Pieces), len(h.Timeline), h.TimelineCut, err)
	}
	if h, err = v.History(ctx, inT, id, 3); err != nil || len(h.Timeline) != 3 || h.Timeline[2].ValidFrom != 2 || !h.TimelineCut || h.VersionsCut {
		t.Errorf("with a limit: %d rows of timeline, %v", len(h.Timeline), err)
	}
}

// A write that would touch more than a tx may weigh is refused and changes
// nothing, however small it is itself; so is one whose entry has touched too much.
func TestHeavyWritesAreRefused(t *testing.T) {
	l := newLarge(t)
	const facts = 100 // of a mebibyte each: more than one batch of the store takes
	var groups [][]*fact.Request
	for range facts {
		groups = append(groups, []*fact.Request{request(fact.Write{Asserts: []fact.Assert{l.fact("Book:1", "page")}})})
	}
	l.entries(1000, groups...)
	closing := func() *fact.Request {
		a := l.fact("Book:1", "page")
		a.Object, a.Policy = fact.TextObject("none"), fact.AutoSupersede
		return request(fact.Write{Asserts: []fact.Assert{a}})
	}
	guarded := request(fact.Write{
		Guards:  []fact.Guard{{Subject: "Book:1", Predicate: "page", Kind: fact.GuardAbsent}},
		Asserts: []fact.Assert{l.fact("Book:2", "page")},
	})
	for _, r := range []*fact.Request{closing(), guarded} {
		got := l.entries(2000, []*fact.Request{r})[0]
		if got.Err == nil || got.Err.Code != fact.TooLarge || got.Wrote || l.m.Position().Tx != facts {
			t.Errorf("got %+v at tx %d", got.Err, l.m.Position().Tx)
		}
	}
	page, err := l.view().Facts(context.Background(), &fact.Query{Scope: inT, Subject: "Book:2", At: fact.Present(3000)})
	if err != nil || len(page.Facts) != 0 {
		t.Errorf("a refused write left %d facts, %v", len(page.Facts), err)
	}

	l.m.SetEntryBytes(2 * mebi)
	keyed := func(key string) *fact.Request {
		r := request(fact.Write{Asserts: []fact.Assert{l.fact("Book:3", key)}})
		r.Idem = &fact.Idempotency{Key: key, Method: "POST", Path: "/api/facts"}
		return r
	}
	first, second, third, fourth := keyed("a"), keyed("b"), keyed("c"), keyed("d")
	got := l.entries(4000, []*fact.Request{first, second, third, fourth})
	if !got[0].Wrote || !got[1].Wrote || !got[2].Wrote || got[3].Err == nil || got[3].Err.Code != fact.RateLimited {
		t.Fatalf("got %+v", got)
	}
	if again := l.entries(4001, []*fact.Request{fourth})[0]; again.Err != nil || !again.Wrote || again.Replayed {
		t.Errorf("the same request alone: %+v", again)
	}
}

// A write that would have to look at candidates of more than a batch is refused,
// and one on another timeline is not.
func TestHeavyCandidatesAreRefused(t *testing.T) {
	l := newLarge(t)
	const facts = 100 // of a mebibyte each
	var groups [][]*fact.Request
	for range facts {
		a := l.fact("Book:1", "page")
		a.Confidence = 0.1
		groups = append(groups, []*fact.Request{request(fact.Write{Asserts: []fact.Assert{a}})})
	}
	l.entries(1000, groups...)
	for predicate, refused := range map[string]bool{"page": true, "title": false} {
		a := l.fact("Book:1", predicate)
		a.Object = fact.TextObject("none")
		got := l.write(2000, a)
		if refused != (got.Err != nil && got.Err.Code == fact.TooLarge && !got.Wrote) {
			t.Errorf("%s: %+v", predicate, got.Err)
		}
	}
}

// A sweep settles not more at once than an answer holds, and goes on after that.
func TestHeavySweepGoesOn(t *testing.T) {
	l := newLarge(t)
	const facts = 40
	for i := range facts {
		a := l.fact("Book:1", "page")
		a.Transient, a.ValidUntil = true, fact.Instant(5000+i)
		l.write(1000, a)
	}
	removed := 0
	for sweeps := 1; ; sweeps++ {
		l.index++
		applied, err := l.m.Apply([]fsm.Committed{{Index: l.index, Term: 1, Data: entry.EncodeSweep(9000)}})
		if err != nil {
			t.Fatal(err)
		}
		s := applied[0].Sweep
		if removed += s.Removed; s.Removed == 0 || s.Removed > fact.MaxAnswerBytes/mebi+1 {
			t.Errorf("sweep %d removed %d", sweeps, s.Removed)
		}
		if !s.More {
			break
		}
	}
	if removed != facts || l.m.Position().Tx != facts+2 {
		t.Errorf("%d facts are gone at tx %d", removed, l.m.Position().Tx)
	}
}
