package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// weak are the clauses that together could not lift a document among the best: a
// document that has none of the others needs no look. The better the documents
// that were found, the more clauses are weak.
type weak struct {
	ready  bool
	least  float64   // the score that they were chosen by
	most   []float64 // what each clause gives at most
	order  []int     // the clauses, those that could give least first
	weak   []int     // of these the weak ones, those that could give most first
	strong []int
	rest   []float64 // what the weak ones from a place on could give together
	groups []int     // the group of each clause
	spans  []span32  // where the lists lie in a window
}

// span32 is a part of a list that lies in a window.
type span32 struct {
	window   uint32 // 1 + its number
	from, to int
}

// prepare looks up what each clause could give at most.
func (k *weak) prepare(s *searcher) {
	k.ready, k.least = true, math.Inf(-1)
	k.spans, k.most, k.groups = make([]span32, len(s.clauses)), make([]float64, len(s.clauses)), make([]int, len(s.clauses))
	for g, group := range s.groups {
		for i := group.first; i < group.last; i++ {
			k.order, k.groups[i] = append(k.order, i), g
			k.most[i] = s.clauses[i].most(s.plan)
		}
	}
	slices.SortStableFunc(k.order, func(a, b int) int { return cmp.Compare(k.most[a], k.most[b]) })
}

// most is what a clause gives at most.
func (c *clause) most(p *plan) float64 {
	most := 0.0
	if c.list.blocks == nil {
		for at := range c.list.ords {
			most = max(most, c.gain(p, at))
		}
		return most
	}
	for _, b := range c.list.blocks {
		most = max(most, c.weight*impact(float64(b.most), p.burden(b.least)))
	}
	return most
}

// choose divides the clauses by a score that has to be reached. Of a group only
// the best counts.
func (k *weak) choose(least float64, groups int) {
	if least == k.least {
		return
	}
	k.least, k.weak, k.strong, k.rest = least, k.weak[:0], k.strong[:0], k.rest[:0]
	most, sum := make([]float64, groups), 0.0
	for n, i := range k.order {
		g := k.groups[i]
		more := sum + max(0, k.most[i]-most[g])
		if !below(more, least) {
			k.strong = append(k.strong, k.order[n:]...)
			break
		}
		sum, most[g] = more, max(most[g], k.most[i])
		k.weak, k.rest = append(k.weak, i), append(k.rest, sum)
	}
	slices.Reverse(k.weak)
	slices.Reverse(k.rest)
	slices.Sort(k.strong)
}

// below tells whether a sum is less than another, whatever was lost by adding up
// in another order.
func below(sum, least float64) bool { return sum < least-math.Abs(least)*1e-12 }

// window scores the documents of one window and keeps the best.
func (s *searcher) window(w uint32) {
	k := &s.weak
	if !k.ready {
		k.prepare(s)
	}
	if k.choose(s.best.least(), len(s.groups)); len(k.weak) == 0 {
		s.score(w)
		s.pick(w)
		return
	}
	base := w << windowBits
	for _, i := range k.strong {
		c := &s.clauses[i]
		from, to := s.span(i, w)
		for at := from; at < to; at++ {
			slot := c.list.ords[at] - base
			s.scores[slot] += s.gain(c, at)
			s.touched.set(slot)
		}
		s.scanned += to - from
	}
	for _, n := range s.nearIn(w) {
		s.scores[n.ord-base] += n.gain
		s.touched.set(n.ord - base)
	}
	for i, word := range s.touched {
		for ; word != 0; word &= word - 1 {
			slot := uint32(i*64 + bits.TrailingZeros64(word))
			s.consider(base+slot, w, s.scores[slot])
			s.scores[slot] = 0
		}
		s.touched[i] = 0
	}
}

// span returns the part of a clause's list that lies in a window.
func (s *searcher) span(i int, w uint32) (from, to int) {
	at := &s.weak.spans[i]
	if at.window != w+1 {
		at.window = w + 1
		at.from, at.to = s.clauses[i].list.within(w)
	}
	return at.from, at.to
}

// consider takes a document if it is good enough, given at least what its strong
// clauses give it: it looks at the weak ones, those first that could give most,
// for as long as they could make it so.
func (s *searcher) consider(ord, w uint32, score float64) {
	k, least := &s.weak, s.best.least()
	if below(score+k.rest[0], least) || ord >= s.bound || !s.passes(ord) {
		return
	}
	for n, i := range k.weak {
		if below(score+k.rest[n], least) {
			return
		}
		if at, ok := s.find(i, ord, w); ok {
			score += s.clauses[i].gain(s.plan, at)
		}
	}
	if below(score, least) {
		return
	}
	if one := (scored{ord, s.sum(ord, w)}); s.best.wants(one) {
		s.best.add(one)
	}
}

// find looks for a document of a window in a clause's list.
func (s *searcher) find(i int, ord, w uint32) (at int, ok bool) {
	s.scanned++
	from, to := s.span(i, w)
	at, ok = slices.BinarySearch(s.clauses[i].list.ords[from:to], ord)
	return from + at, ok
}

// sum is the score of one document.
func (s *searcher) sum(ord, w uint32) float64 {
	sum := 0.0
	for _, g := range s.groups {
		most := 0.0
		for i := g.first; i < g.last; i++ {
			if at, ok := s.find(i, ord, w); ok {
				most = max(most, s.clauses[i].gain(s.plan, at))
			}
		}
		if g.near {
			if at, ok := slices.BinarySearchFunc(s.near, ord, func(n nearDoc, ord uint32) int { return cmp.Compare(n.ord, ord) }); ok {
				most = s.near[at].gain
			}
		}
		sum += most
	}
	return sum
}
