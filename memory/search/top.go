package search

import (
	"cmp"
	"context"
	"math"
	"math/bits"
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

// least is the score below which no document is kept.
func (b *best) least() float64 {
	if len(b.list) < b.most {
		return b.min
	}
	return max(b.min, b.list[0].score)
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

// searcher is one search under way.
type searcher struct {
	*plan
	best best
	restricted
	limits  [][]float64 // what each group gives in each window at most
	weak    weak
	impacts [keptCounts][keptLengths]float64
	scores  [windowSize]float64
	most    [windowSize]float64
	touched bitmap
	grouped bitmap
	scanned int
}

// The counts and lengths up to which impacts are kept.
const (
	keptCounts  = 8
	keptLengths = 128
)

// bitmap marks documents of a window.
type bitmap [windowSize / 64]uint64

func (b *bitmap) set(slot uint32) { b[slot/64] |= 1 << (slot % 64) }

func (b *bitmap) has(slot uint32) bool { return b[slot/64]>>(slot%64)&1 == 1 }

// each visits the documents that are marked, in their order.
func (b *bitmap) each(visit func(slot uint32)) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			visit(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
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
			if w.bound < s.best.least() {
				return nil
			}
			continue
		}
		s.window(w.number)
	}
	return nil
}

// gain is what a clause gives to the document at a place of its list.
func (c *clause) gain(p *plan, at int) float64 {
	return c.weight * impact(float64(c.list.counts[at]), p.burden(p.x.lengths[c.list.ords[at]]))
}

// burden is what frequencies are held against in a document of a length.
func (p *plan) burden(length uint32) float64 { return burden(float64(length), p.length) }

// score adds up what all groups give to the documents of a window.
func (s *searcher) score(w uint32) {
	base := w << windowBits
	for _, g := range s.groups {
		switch {
		case g.near:
			for _, n := range s.nearIn(w) {
				s.scores[n.ord-base] += n.gain
				s.touched.set(n.ord - base)
			}
		case g.last == g.first+1:
			c := &s.clauses[g.first]
			from, to := s.stretch(c, w)
			for at := from; at < to; at++ {
				slot := c.list.ords[at] - base
				s.scores[slot] += s.gain(c, at)
				s.touched.set(slot)
			}
		default:
			for i := g.first; i < g.last; i++ {
				c := &s.clauses[i]
				from, to := s.stretch(c, w)
				for at := from; at < to; at++ {
					slot := c.list.ords[at] - base
					s.most[slot] = max(s.most[slot], s.gain(c, at))
					s.grouped.set(slot)
				}
			}
			s.grouped.each(func(slot uint32) {
				s.scores[slot] += s.most[slot]
				s.touched.set(slot)
				s.most[slot] = 0
			})
			s.grouped = bitmap{}
		}
	}
}

// stretch returns the part of a clause's list that lies in a window, all of which is
// about to be scored.
func (s *searcher) stretch(c *clause, w uint32) (from, to int) {
	from, to = c.list.within(w)
	s.scanned += to - from
	return from, to
}

// gain is what a clause gives to the document at a place of its list. What is asked
// for again and again, the impact of a small count in a short document, is kept.
func (s *searcher) gain(c *clause, at int) float64 {
	count, length := c.list.counts[at], s.x.lengths[c.list.ords[at]]
	if count >= keptCounts || length >= keptLengths {
		return c.gain(s.plan, at)
	}
	kept := &s.impacts[count][length]
	if *kept == 0 {
		*kept = impact(float64(count), s.burden(length))
	}
	return c.weight * *kept
}

// nearIn lists the documents of a window that are near the seeds.
func (p *plan) nearIn(w uint32) []nearDoc {
	find := func(ord uint32) int {
		at, _ := slices.BinarySearchFunc(p.near, ord, func(n nearDoc, ord uint32) int { return cmp.Compare(n.ord, ord) })
		return at
	}
	return p.near[find(w<<windowBits):find((w+1)<<windowBits)]
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
	s.touched.each(func(slot uint32) {
		one := scored{base + slot, s.scores[slot]}
		s.scores[slot] = 0
		if one.ord < s.bound && s.best.wants(one) && s.passes(one.ord) {
			s.best.add(one)
		}
	})
	s.touched = bitmap{}
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
	// Cosines tell how vectors were standardised, of a search that asked for them.
	Cosines Cosines
	// NoRoom tells that the vectors do not fit into memory, and words alone found.
	NoRoom bool
	// Early tells how far the reading of vectors is where it has not ended, and so
	// nothing was searched; nil otherwise.
	Early *Building
}

// search finds the best documents for a query. Callers hold mu.
func (x *Index) search(ctx context.Context, q *Query) (*Answer, error) {
	p := x.prepare(q)
	pool := x.pool(q)
	s := &searcher{plan: p, best: best{most: pool, min: math.Inf(-1)}}
	shift := p.shiftSum()
	if pool == q.Top {
		s.best.min = q.MinScore + shift
	}
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
	list := make([]heard, len(s.best.list))
	for i, one := range s.best.list {
		list[i] = heard{one.ord, one.score - shift, p.why(one.ord)}
	}
	list, err := x.converse(q, list, -shift, s.judged)
	if err != nil {
		return nil, err
	}
	answer.Hits = x.hits(q, list)
	return answer, nil
}

// judged scores documents one by one, those that pass the filters.
func (s *searcher) judged(ords []uint32) ([]heard, error) {
	var list []heard
	for _, ord := range ords {
		if ord < s.bound && s.passes(ord) {
			score, why := s.weigh(ord)
			list = append(list, heard{ord, score, why})
		}
	}
	return list, nil
}

// why tells what each part gave to a document's score.
func (p *plan) why(ord uint32) Why {
	_, w := p.weigh(ord)
	return w
}

// weigh works out the score of a document, and what each part gave to it.
func (p *plan) weigh(ord uint32) (float64, Why) {
	counts := make([]uint8, len(p.clauses))
	for i := range p.clauses {
		counts[i] = p.clauses[i].list.count(ord)
	}
	near := 0.0
	if at, ok := slices.BinarySearchFunc(p.near, ord, func(n nearDoc, ord uint32) int { return cmp.Compare(n.ord, ord) }); ok {
		near = p.near[at].gain
	}
	return p.judge(counts, p.x.lengths[ord], near)
}

// judge works out the score of a document that has each clause's term so many
// times, and what each part gives to it.
func (p *plan) judge(counts []uint8, length uint32, near float64) (score float64, w Why) {
	var gains [parts]float64
	against := p.burden(length)
	for _, g := range p.groups {
		most, at := 0.0, -1
		for i := g.first; i < g.last; i++ {
			if counts[i] == 0 {
				continue
			}
			if gain := p.clauses[i].weight * impact(float64(counts[i]), against); gain > most {
				most, at = gain, i
			}
		}
		if g.near {
			most = near
			gains[partGraph] += near
		}
		score += most
		if at >= 0 {
			c := &p.clauses[at]
			gains[c.part] += most
			w.Matches = append(w.Matches, Match{Part: partNames[c.part], Word: c.word, Found: c.found, Cosine: c.cosine, Gain: most})
		}
	}
	for of, shift := range p.shift {
		gains[of] -= shift
	}
	w.Lexical, w.Words, w.Graph = gains[partLexical], gains[partWords], gains[partGraph]
	return score - p.shiftSum(), w
}

// shiftSum is what every fused score is lower by.
func (p *plan) shiftSum() float64 {
	return p.shift[partLexical] + p.shift[partWords] + p.shift[partGraph]
}
