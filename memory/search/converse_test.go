package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/internal/words"
)

// chatty makes facts of which most are turns of conversations: several facts may be of
// one turn, some tell only the session, some by their source.
func chatty(seed uint64, n int) *vectored {
	rnd := rand.New(rand.NewPCG(seed, 9))
	v := withVectors(n, 32, 8, true)
	for i := range v.facts {
		f := &v.facts[i]
		session, turn := rnd.IntN(12), rnd.IntN(15)
		switch rnd.IntN(8) {
		case 0:
		case 1:
			f.Properties = fmt.Appendf(nil, `{"session":"s%d"}`, session)
		case 2:
			source := fmt.Sprintf("support-session-%d", session)
			f.Source = &source
		default:
			f.Properties = fmt.Appendf(nil, `{"note":"x","session":"s%d","turn":%d}`, session, turn)
		}
	}
	return v
}

// plainTalk works the formula out by looking at every pair of facts.
func plainTalk(x *Index, base, all []Hit, nothing float64, top int) []Hit {
	place := func(h Hit) (string, int32) {
		p := x.place(x.byID[h.ID])
		if p.session == 0 {
			return "", noTurn
		}
		return x.sessions.names[p.session-1], p.turn
	}
	list := slices.Clone(base[:min(max(leastPool, top), len(base))])
	in := map[fact.ID]bool{}
	for _, h := range list {
		in[h.ID] = true
	}
	follow := slices.Clone(list[:min(mostFollowed, len(list))])
	for _, h := range all {
		s, turn := place(h)
		if !in[h.ID] && s != "" && turn != noTurn && slices.ContainsFunc(follow, func(o Hit) bool {
			other, at := place(o)
			return other == s && at != noTurn && max(at-turn, turn-at) <= 1
		}) {
			list = append(list, h)
		}
	}
	average := func(get func(Hit) float64) func(Hit) float64 {
		sum, n := 0.0, 0
		for _, h := range list {
			if g := get(h); g == g {
				sum, n = sum+g, n+1
			}
		}
		return func(h Hit) float64 {
			g := get(h)
			if g != g {
				return 0
			}
			return g - sum/float64(n)
		}
	}
	loudest := func(distance int32) func(h Hit) float64 {
		return func(h Hit) float64 {
			s, turn := place(h)
			if s == "" || turn == noTurn {
				return math.NaN()
			}
			most := 0.0
			for _, o := range list {
				if other, at := place(o); o.ID != h.ID && other == s && at != noTurn && max(at-turn, turn-at) == distance {
					most = max(most, o.Score-nothing)
				}
			}
			return most
		}
	}
	session := func(h Hit) float64 {
		s, _ := place(h)
		if s == "" {
			return math.NaN()
		}
		var all []float64
		for _, o := range list {
			if other, _ := place(o); other == s {
				all = append(all, max(0, o.Score-nothing))
			}
		}
		slices.Sort(all)
		slices.Reverse(all)
		sum := 0.0
		for _, one := range all[:min(3, len(all))] {
			sum += one
		}
		return sum / 3
	}
	beside, same, whole := average(loudest(1)), average(loudest(0)), average(session)
	var got []Hit
	for _, h := range list {
		h.Why.Turns, h.Why.Session = 0.7*beside(h)+0.8*same(h), whole(h)
		h.Score += h.Why.Turns + h.Why.Session
		got = append(got, h)
	}
	slices.SortFunc(got, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(x.byID[b.ID], x.byID[a.ID]))
	})
	return got[:min(top, len(got))]
}

// TestConversationsCount: the ranking by turns and sessions is that of the formula,
// worked out for every pair of facts, under filters, in the past, and with vectors.
func TestConversationsCount(t *testing.T) {
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 3))
	moved := 0
	for round := range 6 {
		n := 300 + rnd.IntN(900)
		v := chatty(uint64(round), n)
		x, quiet := v.index(t), v.index(t)
		quiet.spoken = nil
		for range 6 {
			q := v.query(v.question(rnd), Hybrid, 1+rnd.IntN(20))
			q.Text, q.Words = fmt.Sprintf("word%d word%d", 5+rnd.IntN(59), 5+rnd.IntN(59)), table
			if rnd.IntN(2) == 0 {
				q.Moment.Tx = uint64(1 + rnd.IntN(n))
			}
			if rnd.IntN(3) == 0 {
				q.Predicate = "said"
			}
			find := func(x *Index, q *Query) []Hit { return v.search(t, x, q).Hits }
			if rnd.IntN(2) == 0 {
				q.Dense = nil
				find = func(x *Index, q *Query) []Hit {
					got, err := x.search(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					return got.Hits
				}
			}
			every := *q
			every.Top = n
			base := find(quiet, &every)
			nothing := -quiet.prepare(q).shiftSum()
			want := plainTalk(x, base, silent(quiet, q, base, nothing), nothing, q.Top)
			got := find(x, q)
			if len(got) != len(want) {
				t.Fatalf("round %d: %d hits, not %d", round, len(got), len(want))
			}
			for i := range got {
				near := math.Abs(got[i].Score-want[i].Score) < 1e-9 && math.Abs(got[i].Why.Turns-want[i].Why.Turns) < 1e-9 && math.Abs(got[i].Why.Session-want[i].Why.Session) < 1e-9
				if got[i].ID != want[i].ID || !near {
					t.Fatalf("round %d, %q: hit %d is %v, not %v", round, q.Text, i, got[i], want[i])
				}
				if got[i].ID != base[i].ID {
					moved++
				}
			}
		}
	}
	if moved == 0 {
		t.Error("no conversation ever changed a ranking")
	}
}

// silent adds the facts that pass the filters and say nothing of a question to those
// that do.
func silent(x *Index, q *Query, base []Hit, nothing float64) []Hit {
	all := slices.Clone(base)
	s := &searcher{plan: x.prepare(q)}
	if !s.restrict(x, &q.Filter) {
		return nil
	}
	for ord := range s.bound {
		if s.passes(ord) && !slices.ContainsFunc(base, func(h Hit) bool { return h.ID == x.ids[ord] }) {
			all = append(all, Hit{Place: fact.Place{ID: x.ids[ord]}, Score: nothing})
		}
	}
	return all
}

// TestPlacesFollowTheirFacts: what an index knows of conversations after facts went
// is what one has that never knew them.
func TestPlacesFollowTheirFacts(t *testing.T) {
	v := chatty(5, 700)
	x := v.index(t)
	var lost []uint32
	for ord := range uint32(len(x.docs)) {
		if ord%3 == 0 {
			lost = append(lost, ord)
		}
	}
	left := *v.heap
	left.facts = slices.DeleteFunc(slices.Clone(v.facts), func(f fact.Fact) bool { return x.byID[f.ID]%3 == 0 })
	left.past = nil
	x.remove(lost)
	fresh := newIndex(fact.Scope{Tenant: "t"})
	if err := fresh.build(t.Context(), &left, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	name := func(x *Index, ord uint32) string {
		p := x.place(ord)
		if p.session == 0 {
			return ""
		}
		if !slices.Contains(x.sessions.lists[p.session-1].ords, ord) {
			t.Fatalf("document %d is not in the list of its session", ord)
		}
		return fmt.Sprint(x.sessions.names[p.session-1], " ", p.turn)
	}
	if len(x.docs) != len(fresh.docs) || len(x.spoken) != len(x.docs) {
		t.Fatalf("%d documents with %d places, not %d", len(x.docs), len(x.spoken), len(fresh.docs))
	}
	for ord := range uint32(len(x.docs)) {
		if a, b := name(x, ord), name(fresh, ord); a != b || x.ids[ord] != fresh.ids[ord] {
			t.Fatalf("document %d is at %q, not %q", ord, a, b)
		}
	}
}

// TestSessionOf: what a fact is taken for a part of.
func TestSessionOf(t *testing.T) {
	for _, c := range []struct {
		properties, source, session string
		turn                        int32
	}{
		{`{"session":"s1","turn":3}`, "", "s1", 3},
		{`{"turn":3,"session":"s1"}`, "session-9", "s1", 3},
		{`{"session":7,"turn":3}`, "x", "", 3},
		{`{"session":"s1","turn":-1}`, "", "s1", noTurn},
		{`{"session":"s1","turn":1.5}`, "", "s1", noTurn},
		{`{"session":"s1","turn":99999999999}`, "", "s1", noTurn},
		{`{"a":{"session":"s1"}}`, "", "", noTurn},
		{``, "support-session-789", "support-session-789", noTurn},
		{``, "Session 2024-07-01", "Session 2024-07-01", noTurn},
		{``, "obsession", "", noTurn},
		{``, "crm.export", "", noTurn},
	} {
		f := &fact.Fact{Properties: []byte(c.properties), Source: &c.source}
		if session, turn := placeInTalk(f); session != c.session || turn != c.turn {
			t.Errorf("%s of %q is of session %q, turn %d", c.properties, c.source, session, turn)
		}
	}
}
