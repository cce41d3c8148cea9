package search

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// nearDoc is a document near the seeds, with what that gives to its score.
type nearDoc struct {
	ord  uint32
	gain float64
}

// scored is a document with its score.
type scored struct {
	ord   uint32
	score float64
}

// better orders documents: the higher score first, of equal ones the later.
func (a scored) better(b scored) bool {
	return a.score > b.score || a.score == b.score && a.ord > b.ord
}

// best keeps the best documents seen: a heap with the worst of them on top.
type best struct {
	list []scored
	most int
	min  float64
}

// wants tells whether a document would be kept.
func (b *best) wants(s scored) bool {
	if s.score < b.min {
		return false
	}
	return len(b.list) < b.most || s.better(b.list[0])
}

func (b *best) add(s scored) {
	if len(b.list) < b.most {
		b.list = append(b.list, s)
		for i := len(b.list) - 1; i > 0; {
			up := (i - 1) / 2
			if !b.list[up].better(b.list[i]) {
				return
			}
			b.list[up], b.list[i] = b.list[i], b.list[up]
			i = up
		}
		return
	}
	b.list[0] = s
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(b.list) {
			return
		}
		if down+1 < len(b.list) && b.list[down].better(b.list[down+1]) {
			down++
		}
		if !b.list[i].better(b.list[down]) {
			return
		}
		b.list[i], b.list[down] = b.list[down], b.list[i]
		i = down
	}
}

// window is what the documents of a window could score at most.
type window struct {
	number uint32
	bound  float64
}

// searcher is one search under way.
type searcher struct {
	*plan
	best best
	restricted
	scores  [windowSize]float64
	touched [windowSize / 64]uint64
	scanned int
}

// restricted narrows a search to the documents of a subject or a predicate.
type restricted struct {
	subject, predicate uint32
	bySubject, byPred  bool
	only               []uint32 // the documents that come into question; nil = all
}

// run finds the best documents. It scores one window of documents after another,
// those first that could score most, and ends where no other could have a
// better document than those that it has.
func (s *searcher) run(ctx context.Context) error {
	windows := s.bounds()
	for n := 0; len(windows) > 0; n++ {
		if n%64 == 63 && ctx.Err() != nil {
			return ctx.Err()
		}
		w := popWindow(&windows)
		last := min(uint32(len(s.x.docs)), (w.number+1)<<windowBits) - 1
		if !s.best.wants(scored{last, w.bound}) {
			if len(s.best.list) == s.best.most && w.bound < s.best.list[0].score || w.bound < s.best.min {
				return nil
			}
			continue
		}
		s.score(w.number)
		s.pick(w.number)
	}
	return nil
}

// bounds returns the windows in which any clause has a document, as a heap with
// the one that could score most on top.
func (s *searcher) bounds() []window {
	count := (int(s.bound) + windowSize - 1) >> windowBits
	bounds := make([]float64, count)
	some := make([]bool, count)
	for i := range s.clauses {
		s.clauses[i].bounds(s.plan, bounds, some)
	}
	for at := 0; at < len(s.near); {
		w := s.near[at].ord >> windowBits
		most := 0.0
		for ; at < len(s.near) && s.near[at].ord>>windowBits == w; at++ {
			most = max(most, s.near[at].gain)
		}
		bounds[w] += most
		some[w] = true
	}
	if s.only != nil {
		s.narrow(some)
	}
	windows := make([]window, 0, 64)
	for w, any := range some {
		if any {
			windows = append(windows, window{uint32(w), bounds[w]})
		}
	}
	for i := len(windows)/2 - 1; i >= 0; i-- {
		siftWindow(windows, i)
	}
	return windows
}

// bounds adds to each window what its documents get from a clause at most.
func (c *clause) bounds(p *plan, bounds []float64, some []bool) {
	list := c.list
	if list.blocks != nil {
		for _, b := range list.blocks {
			if int(b.window) >= len(bounds) {
				return
			}
			bounds[b.window] += c.weight * impact(float64(b.most), p.burden(b.least))
			some[b.window] = true
		}
		return
	}
	for at := 0; at < len(list.ords) && list.ords[at] < p.bound; {
		w := list.ords[at] >> windowBits
		most := 0.0
		for ; at < len(list.ords) && list.ords[at]>>windowBits == w; at++ {
			most = max(most, c.weight*impact(float64(list.counts[at]), p.burden(p.x.lengths[list.ords[at]])))
		}
		bounds[w] += most
		some[w] = true
	}
}

// burden is what frequencies are held against in a document of a length.
func (p *plan) burden(length uint32) float64 { return burden(float64(length), p.length) }

// narrow leaves the windows that hold a document in question.
func (s *searcher) narrow(some []bool) {
	at := 0
	for w := range some {
		for at < len(s.only) && s.only[at]>>windowBits < uint32(w) {
			at++
		}
		some[w] = some[w] && at < len(s.only) && s.only[at]>>windowBits == uint32(w)
	}
}

func popWindow(heap *[]window) window {
	h := *heap
	top := h[0]
	h[0] = h[len(h)-1]
	*heap = h[:len(h)-1]
	if len(*heap) > 0 {
		siftWindow(*heap, 0)
	}
	return top
}

// siftWindow orders windows by what they could score, and of equal ones the
// later first.
func siftWindow(h []window, i int) {
	before := func(a, b window) bool { return a.bound > b.bound || a.bound == b.bound && a.number > b.number }
	for {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && before(h[down+1], h[down]) {
			down++
		}
		if !before(h[down], h[i]) {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// score adds up what the clauses give to the documents of a window.
func (s *searcher) score(w uint32) {
	base := w << windowBits
	for i := range s.clauses {
		c := &s.clauses[i]
		from, to := c.list.within(w)
		for at := from; at < to; at++ {
			ord := c.list.ords[at]
			slot := ord - base
			s.scores[slot] += c.weight * impact(float64(c.list.counts[at]), s.burden(s.x.lengths[ord]))
			s.touched[slot/64] |= 1 << (slot % 64)
		}
		s.scanned += to - from
	}
	from, _ := slices.BinarySearchFunc(s.near, base, func(n nearDoc, ord uint32) int { return cmp.Compare(n.ord, ord) })
	for ; from < len(s.near) && s.near[from].ord>>windowBits == w; from++ {
		slot := s.near[from].ord - base
		s.scores[slot] += s.near[from].gain
		s.touched[slot/64] |= 1 << (slot % 64)
	}
}

// within returns the part of a list that lies in a window.
func (p *postings) within(w uint32) (from, to int) {
	if p.blocks == nil {
		return p.below(w << windowBits), p.below((w + 1) << windowBits)
	}
	at, ok := slices.BinarySearchFunc(p.blocks, w, func(b block, w uint32) int { return cmp.Compare(b.window, w) })
	if !ok {
		return 0, 0
	}
	if at+1 < len(p.blocks) {
		return int(p.blocks[at].start), int(p.blocks[at+1].start)
	}
	return int(p.blocks[at].start), len(p.ords)
}

// pick takes the documents of a window that pass and are good enough, and wipes
// its scores.
func (s *searcher) pick(w uint32) {
	base := w << windowBits
	for i, bits := range s.touched {
		for b := uint32(0); bits != 0; b, bits = b+1, bits>>1 {
			if bits&1 == 0 {
				continue
			}
			slot := uint32(i)*64 + b
			one := scored{base + slot, s.scores[slot]}
			s.scores[slot] = 0
			if one.ord < s.bound && s.best.wants(one) && s.passes(one.ord) {
				s.best.add(one)
			}
		}
		s.touched[i] = 0
	}
}

// passes applies every filter to a document.
func (s *searcher) passes(ord uint32) bool {
	d := &s.x.docs[ord]
	if s.bySubject && d.subject != s.subject || s.byPred && d.predicate != s.predicate || d.confidence < s.filter.MinConfidence {
		return false
	}
	v, ok := s.x.see(d, &s.filter.Moment)
	return ok && s.filter.passes(v)
}

// restrict looks up the subject and the predicate of a filter; it answers false
// where no document has them.
func (r *restricted) restrict(x *Index, f *Filter) bool {
	if f.Predicate != "" {
		n, ok := x.predicates.numbers[f.Predicate]
		if !ok {
			return false
		}
		r.byPred, r.predicate, r.only = true, n, x.predicates.lists[n].ords
	}
	if f.Subject != "" {
		n, ok := x.subjects.numbers[f.Subject]
		if !ok {
			return false
		}
		r.bySubject, r.subject, r.only = true, n, x.subjects.lists[n].ords
	}
	return true
}

// Answer is what a search found.
type Answer struct {
	Hits []Hit
	// Scanned counts the occurrences of terms that were scored.
	Scanned int
	// Corpus is how many documents the corpus figures are of.
	Corpus int
	// Candidates are the documents that passed the filters, and Missing those of
	// them without a vector, of a search that asked for vectors.
	Candidates, Missing int
	// NoRoom tells that the vectors do not fit into memory, and words alone found.
	NoRoom bool
}

// search finds the best documents for a query. Callers hold mu.
func (x *Index) search(ctx context.Context, q *Query) (*Answer, error) {
	p := x.prepare(q)
	s := &searcher{plan: p, best: best{most: q.Top, min: math.Inf(-1)}}
	shift := p.shiftSum()
	s.best.min = q.MinScore + shift
	answer := &Answer{Corpus: p.count}
	if len(p.clauses)+len(p.near) == 0 || q.Top == 0 || !s.restrict(x, &q.Filter) {
		return answer, nil
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	answer.Scanned = s.scanned
	slices.SortFunc(s.best.list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ord, a.ord))
	})
	for _, one := range s.best.list {
		answer.Hits = append(answer.Hits, Hit{ID: x.ids[one.ord], Score: one.score - shift, Why: p.why(one.ord)})
	}
	return answer, nil
}

// why tells what each part gave to a document's score.
func (p *plan) why(ord uint32) Why {
	var w Why
	length := p.burden(p.x.lengths[ord])
	var gains [parts]float64
	for i := range p.clauses {
		c := &p.clauses[i]
		n := c.list.count(ord)
		if n == 0 {
			continue
		}
		gain := c.weight * impact(float64(n), length)
		gains[c.part] += gain
		w.Matches = append(w.Matches, c.match(gain))
	}
	at, ok := slices.BinarySearchFunc(p.near, ord, func(n nearDoc, ord uint32) int { return cmp.Compare(n.ord, ord) })
	if ok {
		gains[partGraph] += p.near[at].gain
	}
	for of, shift := range p.shift {
		gains[of] -= shift
	}
	w.Lexical, w.Words, w.Graph = gains[partLexical], gains[partWords], gains[partGraph]
	return w
}
