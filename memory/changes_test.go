package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
)

// TestChangesAgainstBruteForce: on random histories of two tenants, what Changes
// answers for two random instants is the difference of the two lists that the
// model gives for them.
func TestChangesAgainstBruteForce(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 200+seed)
			seen := map[string]int{}
			for range 8 {
				w.live(15)
				for range 40 {
					w.checkChanges(w.caller(), w.changes(), seen)
				}
			}
			for _, kind := range []string{"added", "superseded", "retracted", "expired", "still"} {
				if seen[kind] < 5 {
					t.Errorf("%s was met %d times", kind, seen[kind])
				}
			}
		})
	}
}

func (w *world) changes() *memory.ChangesQuery {
	q := &memory.ChangesQuery{Read: memory.NewRead(), From: w.instant(), To: w.instant(), Axis: memory.Axis(w.rnd.IntN(3))}
	q.From, q.To = min(q.From, q.To), max(q.From, q.To)
	if w.oneIn(5) {
		q.From, q.To = min(q.From, w.clock), fact.NoInstant
	}
	if w.oneIn(4) {
		q.Read = w.read()
		q.Tx = min(q.Tx, w.Tx())
		if !q.To.Given() {
			q.Read = memory.NewRead() // now is another in the past
		}
	}
	if w.oneIn(3) {
		q.Subject = pick(w, worldNames)
	}
	if w.oneIn(3) {
		q.Predicate = pick(w, worldVerbs)
	}
	if w.oneIn(4) {
		q.Objects = []fact.Object{w.object()}
	}
	q.Limit = pick(w, []int{0, 0, 1, 3})
	return q
}

// states returns the two points in both times that a query compares.
func (w *world) states(q *memory.ChangesQuery) (from, to fact.At) {
	to0, now := q.To, w.now()
	if !to0.Given() {
		to0 = now
	}
	point := func(valid, known fact.Instant) fact.At {
		r := q.Read
		if !r.AsOf.Given() {
			r.AsOf = valid
		}
		if !r.Pinned && !r.KnownAt.Given() {
			r.KnownAt = known
		}
		return w.at(r)
	}
	switch q.Axis {
	case memory.ValidAxis:
		return point(q.From, to0), point(to0, to0)
	case memory.KnownAxis:
		return point(to0, q.From), point(to0, to0)
	}
	return point(q.From, q.From), point(to0, to0)
}

func (w *world) checkChanges(c memory.Caller, q *memory.ChangesQuery, seen map[string]int) {
	w.Helper()
	from, to := w.states(q)
	list := func(at fact.At) map[fact.ID]fact.Fact {
		held := map[fact.ID]fact.Fact{}
		for _, f := range w.Facts(&fact.Query{Scope: c.Scope(q.Branch), At: at, Subject: q.Subject, Predicate: q.Predicate, Objects: q.Objects, Limit: 1 << 30}) {
			held[f.Statement()] = f
		}
		return held
	}
	was, is := list(from), list(to)
	var want []string
	still := 0
	for id, f := range is {
		if _, both := was[id]; both {
			still++
			continue
		}
		want = append(want, fmt.Sprint("added ", f.ID))
	}
	for id, f := range was {
		if _, both := is[id]; !both {
			want = append(want, w.gone(q.Branch, f, to))
		}
	}
	slices.Sort(want)
	var got []string
	for pages := 0; ; pages++ {
		d, _, err := w.service.Changes(w.Context(), c, q, nil)
		if err != nil {
			w.Fatalf("%+v: %v", q, err)
		}
		if pages == 0 && (d.StillValid != still || d.AddedTotal+d.SupersededTotal != len(want)) {
			w.Fatalf("%+v: %d still valid, %d changed; want %d and %d", q, d.StillValid, d.AddedTotal+d.SupersededTotal, still, len(want))
		}
		for _, f := range d.Added {
			got = append(got, fmt.Sprint("added ", f.ID))
		}
		for _, f := range d.Superseded {
			why := "superseded"
			if slices.Contains(d.Retracted, f.ID) {
				why = "retracted"
			} else if slices.Contains(d.Expired, f.ID) {
				why = "expired"
			}
			got = append(got, fmt.Sprint(why, " ", f.ID, " ", f.Status, " ", f.ValidUntil))
		}
		if d.Next == "" {
			break
		}
		if q.After = d.Next; len(d.Added)+len(d.Superseded) < q.Limit || pages > 1000 {
			w.Fatalf("%+v: a page of %d", q, len(d.Added)+len(d.Superseded))
		}
	}
	seen["still"] += still
	for _, line := range got {
		kind, _, _ := strings.Cut(line, " ")
		seen[kind]++
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.Fatalf("%+v of %q:\n%s\nwant\n%s", q, c.Tenant, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// gone tells how the model sees a fact that no longer holds, and why.
func (w *world) gone(branch string, f fact.Fact, at fact.At) string {
	at.AsOf = fact.NoInstant
	now, _ := w.Fact(memory.Caller{Tenant: f.Tenant}.Scope(branch), f.ID, at)
	why := "superseded"
	switch {
	case now == nil:
		now, why = &f, "expired"
	case now.Status == fact.Retracted:
		why = "retracted"
	case now.SupersededBy.IsZero():
		why = "expired"
	}
	return fmt.Sprint(why, " ", f.ID, " ", now.Status, " ", now.ValidUntil)
}
