package memory_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
	"abagraph/memory/packet"

	"golang.org/x/text/unicode/norm"
)

// plainPacket is what a packet without a goal must hold, made by looking at every
// fact that the model answers.
type plainPacket struct {
	*plainGraph
	candidates []fact.Fact // of status candidate, that hold
	seeds      []string
	distance   map[fact.ID]packet.Distance
}

func names(f *fact.Fact, name string) bool {
	return f.Object.Kind == fact.Text && norm.NFC.String(f.Object.Text) == name
}

func (w *world) plainPacket(c memory.Caller, q *memory.ContextQuery, meta memory.Meta) *plainPacket {
	p := &plainPacket{plainGraph: w.plainGraph(c, q.Read), distance: map[fact.ID]packet.Distance{}}
	at := w.at(q.Read)
	if !at.AsOf.Given() {
		at.AsOf = meta.Now
	}
	p.candidates = w.Facts(&fact.Query{Scope: c.Scope(q.Branch), At: at, StatusGiven: true, Statuses: fact.StatusSet(0).With(fact.Candidate), Limit: 1 << 30})
	asked := q.Seeds
	if q.Project != "" {
		asked = append([]string{q.Project}, asked...)
	}
	for _, name := range asked {
		if !slices.Contains(p.seeds, name) && slices.ContainsFunc(slices.Concat(p.facts, p.candidates), func(f fact.Fact) bool { return f.Subject == name || names(&f, name) }) {
			p.seeds = append(p.seeds, name)
		}
	}
	for _, seed := range p.seeds {
		for i := range p.facts {
			if f := &p.facts[i]; f.Subject == seed || names(f, seed) {
				p.reach(f, packet.AtSeed)
			}
		}
		if q.Project == "" || q.Project == seed {
			p.walk(seed)
		}
	}
	if q.IncludeRecent {
		w.recent(p, c, meta)
	}
	p.complete()
	return p
}

func (p *plainPacket) reach(f *fact.Fact, d packet.Distance) {
	if was, there := p.distance[f.ID]; !there || d < was {
		p.distance[f.ID] = d
	}
}

// walk reaches the facts of everything one edge away.
func (p *plainPacket) walk(seed string) {
	for _, e := range p.edges {
		other := ""
		switch {
		case e.From == seed:
			other = e.To
		case e.To == seed:
			other = e.From
		}
		for i := range p.facts {
			if f := &p.facts[i]; other != "" && f.Subject == other {
				p.reach(f, packet.NextToSeed)
			}
		}
	}
}

// recent reaches the first 8 that hold of each tenant's last 32 asserts, and the
// newest 8 of those.
func (w *world) recent(p *plainPacket, c memory.Caller, meta memory.Meta) {
	var all []fact.Fact
	for _, tenant := range []string{"ta", "tb"} {
		if c.Tenant != "" && c.Tenant != tenant {
			continue
		}
		var seen []fact.ID
		taken := 0
		for _, e := range slices.Backward(w.Events(fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, 0)) {
			if e.Op != fact.OpAssert || e.Tx > meta.Tx || slices.Contains(seen, e.Fact.ID) || len(seen) == 32 || taken == 8 {
				continue
			}
			seen = append(seen, e.Fact.ID)
			if i := slices.IndexFunc(p.facts, func(f fact.Fact) bool { return f.ID == e.Fact.ID }); i >= 0 {
				all = append(all, p.facts[i])
				taken++
			}
		}
	}
	slices.SortFunc(all, func(a, b fact.Fact) int {
		return cmp.Or(cmp.Compare(b.Tx, a.Tx), slices.Compare(a.ID[:], b.ID[:]))
	})
	for i := range all[:min(8, len(all))] {
		p.reach(&all[i], packet.Unreached)
	}
}

// complete reaches the rest of each subject and predicate of which a fact is
// there, unless all of the subject was read anyway.
func (p *plainPacket) complete() {
	type line struct{ subject, predicate string }
	nearest := map[line]packet.Distance{}
	for i := range p.facts {
		f := &p.facts[i]
		d, there := p.distance[f.ID]
		at := line{f.Subject, f.Predicate}
		if was, known := nearest[at]; there && (!known || d < was) {
			nearest[at] = d
		}
	}
	for i := range p.facts {
		f := &p.facts[i]
		if d, there := nearest[line{f.Subject, f.Predicate}]; there {
			p.reach(f, max(d, packet.NextToSeed))
		}
	}
}

// expected is one fact that a packet must hold.
type expected struct {
	id              fact.ID
	score           float64
	agree, conflict int
	sources         []string
}

// expect judges every statement that was reached.
func (p *plainPacket) expect() (list []expected, merged int) {
	newest := fact.NoInstant
	groups := map[string][]fact.Fact{}
	for _, f := range p.facts {
		if _, there := p.distance[f.ID]; there {
			key := f.Tenant + "\x00" + f.Subject + "\x00" + f.Predicate + "\x00" + f.Object.Canonical()
			groups[key] = append(groups[key], f)
		}
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b fact.Fact) int {
			return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Tx, a.Tx), slices.Compare(a.ID[:], b.ID[:]))
		})
		newest = max(newest, group[0].ValidFrom)
	}
	for _, group := range groups {
		merged += len(group) - 1
		list = append(list, p.judge(group, newest))
	}
	return list, merged
}

func (p *plainPacket) judge(group []fact.Fact, newest fact.Instant) expected {
	best := &group[0]
	e := expected{id: best.ID, agree: len(group)}
	d := packet.Unreached
	for i := range group {
		d = min(d, p.distance[group[i].ID])
		if s := group[i].Source; s != nil && !slices.Contains(e.sources, *s) {
			e.sources = append(e.sources, *s)
		}
	}
	for _, other := range slices.Concat(p.facts, p.candidates) {
		if other.Tenant == best.Tenant && other.Subject == best.Subject && other.Predicate == best.Predicate && !other.Object.Equal(best.Object) &&
			best.Predicate != "knows" && (best.Policy != fact.Coexist || other.Policy != fact.Coexist) {
			e.conflict++
		}
	}
	near := map[packet.Distance]float64{packet.AtSeed: 1, packet.NextToSeed: 0.5}[d]
	const quarter = 90 * 24 * 3600 * 1000.0
	s := float64(max(1, len(e.sources)))
	e.score = 0.25*near + 0.2*best.Confidence + 0.1*quarter/(quarter+float64(newest-best.ValidFrom)) + 0.1*s/(s+1+float64(e.conflict))
	return e
}

// TestContextAgainstBruteForce: on random histories of two tenants, at random
// instants of both axes, a packet holds what looking at every fact gives, and its
// figures are right.
func TestContextAgainstBruteForce(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed+100)
			for range 8 {
				w.live(15)
				for range 8 {
					w.checkContext()
				}
			}
		})
	}
}

func (w *world) checkContext() {
	w.Helper()
	c, q := w.caller(), memory.NewContextQuery()
	q.Read, q.MaxFacts, q.FactsGiven = w.read(), packet.MaxFacts, true
	for range w.rnd.IntN(3) {
		q.Seeds = append(q.Seeds, pick(w, append([]string{"P:ghost", "plain"}, worldNames...)))
	}
	if w.oneIn(3) {
		q.Project = pick(w, worldNames)
	}
	q.IncludeRecent = !w.oneIn(3)
	if q.IncludeRecent {
		q.Branch = "" // what a branch inherits has no place among its own events
	}
	got, meta, err := w.service.Context(w.Context(), c, q, nil)
	if err != nil {
		w.Fatalf("%+v: %v", q, err)
	}
	plain := w.plainPacket(c, q, meta)
	want, merged := plain.expect()
	if len(got.Facts) != len(want) || got.Collapsed != merged || got.Dropped != 0 {
		w.Fatalf("%+v: %d facts, %d collapsed, %d dropped; want %d, %d and none", q, len(got.Facts), got.Collapsed, got.Dropped, len(want), merged)
	}
	for i := range got.Facts {
		f := &got.Facts[i]
		at := slices.IndexFunc(want, func(e expected) bool { return e.id == f.ID })
		if at < 0 {
			w.Fatalf("%+v: %s %s %s is not to be there", q, f.Subject, f.Predicate, f.Object.Text)
		}
		e := &want[at]
		slices.Sort(e.sources)
		if f.Corroboration.Agree != e.agree || f.Corroboration.Conflict != e.conflict || !slices.Equal(f.Corroboration.Sources, e.sources) {
			w.Errorf("%+v: %s %s %s: %+v, want %+v", q, f.Subject, f.Predicate, f.Object.Text, f.Corroboration, *e)
		}
		if math.Abs(float64(f.Score.Total)/packet.Unit-e.score) > 3e-6 {
			w.Errorf("%+v: %s %s %s scores %+v, want %v", q, f.Subject, f.Predicate, f.Object.Text, f.Score, e.score)
		}
		if i > 0 && packetOrder(&got.Facts[i-1], f) > 0 {
			w.Errorf("%+v: fact %d is out of order", q, i)
		}
	}
	w.checkEntities(plain, got)
	w.checkSmaller(c, q, got)
}

func packetOrder(a, b *packet.Fact) int {
	return cmp.Or(cmp.Compare(b.Score.Total, a.Score.Total), cmp.Compare(b.Tx, a.Tx), slices.Compare(a.ID[:], b.ID[:]))
}

func (w *world) checkEntities(plain *plainPacket, got *packet.Packet) {
	w.Helper()
	want := slices.Clone(plain.seeds)
	add := func(name string) {
		if !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	for i := range got.Facts {
		add(got.Facts[i].Subject)
		for _, e := range plain.edges {
			if e.Fact.ID == got.Facts[i].ID {
				add(e.To)
			}
		}
	}
	if !slices.Equal(got.Entities, want) {
		w.Errorf("entities %q, want %q", got.Entities, want)
	}
}

// checkSmaller: fewer facts are the first of many, and the same request has the
// same bytes.
func (w *world) checkSmaller(c memory.Caller, q *memory.ContextQuery, whole *packet.Packet) {
	w.Helper()
	few := *q
	few.MaxFacts = w.rnd.IntN(6)
	got, _, err := w.service.Context(w.Context(), c, &few, nil)
	if err != nil {
		w.Fatal(err)
	}
	for i := range min(few.MaxFacts, len(whole.Facts)) {
		if len(got.Facts) != min(few.MaxFacts, len(whole.Facts)) || got.Facts[i].ID != whole.Facts[i].ID {
			w.Fatalf("%+v: %d facts with max_facts=%d, of %d", q, len(got.Facts), few.MaxFacts, len(whole.Facts))
		}
	}
	again, _, err := w.service.Context(w.Context(), c, q, nil)
	if err != nil {
		w.Fatal(err)
	}
	if string(again.AppendJSON(nil, true)) != string(whole.AppendJSON(nil, true)) || again.Digest() != whole.Digest() {
		w.Errorf("%+v: other bytes the second time", q)
	}
}
