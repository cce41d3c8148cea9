package memory_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
	"abagraph/memory/check"

	"golang.org/x/text/unicode/norm"
)

// TestFactcheckAgainstBruteForce: on random histories of two tenants, at random
// instants of both axes, what Factcheck answers is what comparing every fact with
// every other gives.
func TestFactcheckAgainstBruteForce(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 100+seed)
			seen := map[string]int{}
			for range 8 {
				w.live(15)
				for range 8 {
					w.checkFactcheck(w.caller(), w.read(), seen)
				}
			}
			for _, kind := range []string{"multiple_active", "expired_but_active", "candidate_conflict", "orphan", "dangling"} {
				if seen[kind] < 10 {
					t.Errorf("%s was met %d times", kind, seen[kind])
				}
			}
		})
	}
}

func (w *world) checkFactcheck(c memory.Caller, r memory.Read, seen map[string]int) {
	w.Helper()
	q := &memory.FactcheckQuery{Read: r, Rules: check.Rules{Kinds: check.AllKinds}, Integrity: w.oneIn(2)}
	if w.oneIn(3) {
		q.Subject = pick(w, worldNames)
	}
	if w.oneIn(4) {
		q.Predicate = pick(w, worldVerbs)
	}
	if w.oneIn(3) {
		q.Coexist = []string{"likes", "nothing"}
	}
	if w.oneIn(4) {
		q.Kinds = check.Kinds(1 + w.rnd.IntN(7))
	}
	q.Limit = pick(w, []int{0, 0, 1, 2})
	want := w.plainFactcheck(c, q)
	var got []string
	pages, left := 0, -1
	for {
		f, _, err := w.service.Factcheck(w.Context(), c, q, nil)
		if err != nil {
			w.Fatal(err)
		}
		var page []string
		for _, k := range f.Contradictions {
			page = append(page, contradiction(k.Kind, k.Facts))
		}
		for _, o := range f.Orphans {
			page = append(page, fmt.Sprint("orphan ", o.Tenant, " ", o.ID, " ", o.FactCount))
		}
		for _, e := range f.Dangling {
			page = append(page, fmt.Sprint("dangling ", e.Fact.ID, " ", e.To))
		}
		total := f.Total + f.OrphanTotal + f.DanglingTotal
		if left >= 0 && total != left {
			w.Errorf("%+v: %d are left, and the page before said %d", q, total, left)
		}
		left = total - len(page)
		if f.Counts[0]+f.Counts[1]+f.Counts[2] != f.Total {
			w.Errorf("%+v: the counts %v do not make %d", q, f.Counts, f.Total)
		}
		got = append(got, page...)
		if pages++; f.Next == "" {
			break
		}
		if q.After = f.Next; len(page) < q.Limit || pages > 1000 {
			w.Fatalf("%+v: a page of %d", q, len(page))
		}
	}
	for _, line := range got {
		kind, _, _ := strings.Cut(line, " ")
		seen[kind]++
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || left != 0 {
		w.Fatalf("%+v of %q:\n%s\nwant\n%s", q, c.Tenant, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func contradiction(kind check.Kind, facts []fact.Fact) string {
	var ids []string
	for _, f := range facts {
		ids = append(ids, f.ID.String()+" "+f.Status.String())
	}
	slices.Sort(ids)
	return kind.String() + " " + strings.Join(ids, ", ")
}

// plainFactcheck compares every fact with every other.
func (w *world) plainFactcheck(c memory.Caller, q *memory.FactcheckQuery) []string {
	at := w.at(q.Read)
	t := cmp.Or(at.AsOf, at.Now)
	if !at.AsOf.Given() {
		t = at.Now
		if at.Pinned {
			t = w.recordTime(at.Tx)
		} else if at.KnownAt.Given() {
			t = at.KnownAt
		}
	}
	base := fact.Query{Scope: c.Scope(q.Branch), At: at, Subject: q.Subject, Predicate: q.Predicate, Limit: 1 << 30}
	holding := w.Facts(&base)
	active, candidates := base, base
	active.StatusGiven, active.Statuses, active.At.AsOf = true, fact.StatusSet(0).With(fact.Active), fact.NoInstant
	candidates.StatusGiven, candidates.Statuses, candidates.At.AsOf = true, fact.StatusSet(0).With(fact.Candidate), t
	found := map[string]bool{}
	line := func(f fact.Fact) string { return f.Tenant + "\x00" + f.Subject + "\x00" + f.Predicate }
	many := func(f fact.Fact) bool {
		return slices.Contains([]string{"references", "tag", "knows", "member_of", "cites"}, f.Predicate) || slices.Contains(q.Coexist, f.Predicate)
	}
	group := func(list []fact.Fact, f fact.Fact) []fact.Fact {
		var same []fact.Fact
		for _, g := range list {
			if line(g) == line(f) {
				same = append(same, g)
			}
		}
		return same
	}
	add := func(kind check.Kind, facts []fact.Fact) {
		if q.Kinds.Has(kind) && len(facts) > 0 {
			found[contradiction(kind, facts)] = true
		}
	}
	for _, f := range holding {
		for _, g := range holding {
			if line(f) == line(g) && !f.Object.Equal(g.Object) && !many(f) {
				add(check.MultipleActive, group(holding, f))
			}
		}
	}
	var expired []fact.Fact
	for _, f := range w.Facts(&active) {
		if f.ValidUntil <= t {
			expired = append(expired, f)
		}
	}
	for _, f := range expired {
		add(check.ExpiredButActive, group(expired, f))
	}
	all := w.Facts(&candidates)
	for _, f := range all {
		var alone []fact.Fact
		against := group(holding, f)
		for _, g := range group(all, f) {
			if !slices.ContainsFunc(against, func(h fact.Fact) bool { return h.Object.Equal(g.Object) }) {
				alone = append(alone, g)
			}
		}
		if len(against) > 0 && len(alone) > 0 && !many(f) {
			add(check.CandidateConflict, append(alone, against...))
		}
	}
	if q.Integrity {
		w.plainIntegrity(c, q, at, holding, found)
	}
	var list []string
	for k := range found {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (w *world) recordTime(tx uint64) fact.Instant {
	if tx == 0 {
		return fact.NoInstant
	}
	v, err := w.view(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	defer v.Close()
	at, err := v.RecordTime(w.Context(), tx)
	if err != nil {
		w.Fatal(err)
	}
	return at
}

// plainIntegrity looks, for each subject, at every edge of its tenant.
func (w *world) plainIntegrity(c memory.Caller, q *memory.FactcheckQuery, at fact.At, holding []fact.Fact, found map[string]bool) {
	edges := map[string][]memory.Edge{}
	for _, tenant := range []string{"ta", "tb"} {
		edges[tenant] = w.plainGraph(memory.Caller{Operator: true, Tenant: tenant}, q.Read).edges
	}
	known := at
	known.AsOf = fact.NoInstant
	count := map[[2]string]int{}
	for _, f := range holding {
		count[[2]string{f.Tenant, f.Subject}]++
		for _, e := range edges[f.Tenant] {
			there := w.Facts(&fact.Query{Scope: memory.Caller{Tenant: f.Tenant}.Scope(q.Branch), At: known, Subject: e.To,
				StatusGiven: true, Statuses: fact.AllStatuses, Limit: 1})
			if e.Fact.ID == f.ID && len(there) == 0 {
				found[fmt.Sprint("dangling ", f.ID, " ", e.To)] = true
			}
		}
	}
	for at, n := range count {
		linked := slices.ContainsFunc(edges[at[0]], func(e memory.Edge) bool {
			return e.From != e.To && (e.From == at[1] || e.To == norm.NFC.String(at[1]))
		})
		if !linked && q.Predicate == "" {
			found[fmt.Sprint("orphan ", at[0], " ", at[1], " ", n)] = true
		}
	}
}
