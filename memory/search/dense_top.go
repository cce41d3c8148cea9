package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"abagraph/fact"
	"abagraph/memory/vector"
)

// Dense asks for the documents whose vectors are near one.
type Dense struct {
	Model  fact.Model
	Vector []float32 // of length 1
	// Tx is the record time read: vectors that were set later do not count.
	Tx uint64
	// Exact compares with every candidate exactly, however many there are.
	Exact bool
}

// Bounds of a search by vectors.
const (
	// lookClosely is how many candidates are compared closely where there are too
	// many for all, and lookPerHit how many more for each hit asked for.
	lookClosely = 4_096
	lookPerHit  = 32
	// lookUp is how many documents are looked at between two looks at the context.
	lookUp = 4_096
	// maxWorkers share the comparing, where each has at least leastShare to do.
	maxWorkers  = 4
	leastShare  = 4_096
	leastSpread = 1e-9
	// rounding is more than what sums of parts lose.
	rounding = 1e-9
)

// closely says how many candidates are compared exactly, however they guess, and
// how many where there are more; tests lower it.
type closely struct{ exact, look, perHit int }

// denseSearch is a search in which a vector counts. Of the candidates, which are
// the documents that pass every filter, it keeps columns.
type denseSearch struct {
	*searcher
	want    *Dense
	query   *vector.Query
	columns *columns
	guessed bool
	// A cosine counts as (cosine - mean) * scale.
	mean, scale float64
	missing     int // candidates without a vector
	final       []candidate
}

// columns are used again by later searches: they may be large.
type columns struct {
	ords    []uint32
	cosines []float64 // NaN where there is no vector
	others  []float64 // what the other parts give; -Inf = nothing at all
}

// candidate is a document that may be among the best.
type candidate struct {
	ord    uint32
	row    int32 // noRow = its statement has no vector
	others float64
	cosine float64
	within float64 // how far the true cosine is from it at most
}

// searchDense finds the best documents for a query with a vector. Callers hold
// mu; full vectors are read from the source.
func (x *Index) searchDense(ctx context.Context, from Source, q *Query) (*Answer, error) {
	s := x.newDenseSearch(q)
	defer s.done()
	answer := &Answer{Corpus: s.count}
	if !s.restrict(x, &q.Filter) {
		return answer, nil
	}
	if err := s.measure(ctx, q.Mode); err != nil {
		return nil, err
	}
	answer.Scanned, answer.Candidates, answer.Missing = s.scanned, len(s.columns.ords), s.missing
	if q.Top == 0 {
		return answer, nil
	}
	if err := s.addOthers(ctx, q.Mode); err != nil {
		return nil, err
	}
	s.choose(q)
	if err := s.resolve(ctx, from); err != nil {
		return nil, err
	}
	s.answer(q, answer)
	return answer, nil
}

func (x *Index) newDenseSearch(q *Query) *denseSearch {
	s := &denseSearch{searcher: &searcher{plan: x.prepare(q)}, want: q.Dense, scale: 1}
	if kept, ok := x.scratch.Get().(*columns); ok {
		s.columns = kept
	} else {
		s.columns = &columns{}
	}
	c := s.columns
	c.ords, c.cosines, c.others = c.ords[:0], c.cosines[:0], c.others[:0]
	return s
}

func (s *denseSearch) done() { s.x.scratch.Put(s.columns) }

// part is what a cosine gives to a score; what has no vector is taken for average.
func (s *denseSearch) part(cosine float64) float64 {
	if cosine != cosine {
		return 0
	}
	return (cosine - s.mean) * s.scale
}

// addOthers works out what the other parts give to each candidate. One that no
// part says anything of is no hit.
func (s *denseSearch) addOthers(ctx context.Context, mode Mode) error {
	c := s.columns
	c.others = slices.Grow(c.others, len(c.ords))[:len(c.ords)]
	clear(c.others)
	if len(s.clauses)+len(s.near) == 0 {
		for i, cosine := range c.cosines {
			if cosine != cosine {
				c.others[i] = math.Inf(-1)
			}
		}
		return nil
	}
	for at := 0; at < len(c.ords); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w := c.ords[at] >> windowBits
		s.score(w)
		for ; at < len(c.ords) && c.ords[at]>>windowBits == w; at++ {
			slot := c.ords[at] - w<<windowBits
			c.others[at] = s.scores[slot]
			if touched := s.touched[slot/64]>>(slot%64)&1 == 1; c.cosines[at] != c.cosines[at] && (!touched || mode == Vector) {
				c.others[at] = math.Inf(-1)
			}
		}
		clear(s.scores[:])
		clear(s.touched[:])
	}
	return nil
}

// choose leaves the candidates that may be among the best: all whose greatest
// possible score is not below the least possible one of Top others.
func (s *denseSearch) choose(q *Query) {
	s.shortlist(q.Top)
	lowest := best{most: q.Top, min: math.Inf(-1)}
	for i := range s.final {
		c := &s.final[i]
		if low := (scored{c.ord, s.value(c) - c.within*s.scale}); lowest.wants(low) {
			lowest.add(low)
		}
	}
	least := q.MinScore + s.shiftSum()
	if len(lowest.list) == q.Top {
		least = max(least, lowest.list[0].score)
	}
	s.final = slices.DeleteFunc(s.final, func(c candidate) bool {
		return s.value(&c)+c.within*s.scale < least-rounding
	})
}

// shortlist takes candidates out of their columns: those that come into question
// by what is known so far, with bounds.
func (s *denseSearch) shortlist(top int) {
	c := s.columns
	if s.guessed {
		top = s.x.closely.look + s.x.closely.perHit*top
	}
	first := best{most: top, min: math.Inf(-1)}
	low := func(i int) scored {
		value := c.others[i] + s.part(c.cosines[i])
		if !s.guessed {
			value -= s.within(c.ords[i], c.cosines[i]) * s.scale
		}
		return scored{uint32(i), value}
	}
	for i := range c.ords {
		if one := low(i); !math.IsInf(one.score, -1) && first.wants(one) {
			first.add(one)
		}
	}
	if s.guessed {
		for _, one := range first.list {
			s.final = append(s.final, s.candidate(int(one.ord)))
		}
		return
	}
	least := math.Inf(-1)
	if len(first.list) == top {
		least = first.list[0].score
	}
	for i := range c.ords {
		high := c.others[i] + s.part(c.cosines[i]) + s.within(c.ords[i], c.cosines[i])*s.scale
		if !math.IsInf(high, -1) && high >= least-rounding {
			s.final = append(s.final, s.candidate(i))
		}
	}
}

// within is how far a cosine that was told closely is from the true one at most.
func (s *denseSearch) within(ord uint32, cosine float64) float64 {
	if cosine != cosine {
		return 0
	}
	return s.x.dense.table.Within(s.query, uint32(s.row(ord)))
}

// candidate looks closely at a candidate.
func (s *denseSearch) candidate(i int) candidate {
	c := candidate{ord: s.columns.ords[i], row: noRow, others: s.columns.others[i], cosine: s.columns.cosines[i]}
	if c.cosine == c.cosine {
		c.row = s.row(c.ord)
		c.cosine, c.within = s.x.dense.table.Near(s.query, uint32(c.row))
	}
	return c
}

func (s *denseSearch) value(c *candidate) float64 { return c.others + s.part(c.cosine) }

// resolve reads the full vectors of the candidates that are left.
func (s *denseSearch) resolve(ctx context.Context, from Source) error {
	list := s.final[:0]
	for _, c := range s.final {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.row != noRow {
			v, _, err := from.Vector(ctx, s.x.scope, s.want.Model, s.x.statement(c.ord))
			if err != nil {
				return fmt.Errorf("read a vector: %w", err)
			}
			c.cosine, c.within = math.NaN(), 0
			if v != nil {
				c.cosine = s.query.Exact(v)
			}
			if !(math.Abs(c.cosine) < 2) {
				continue // gone in the state that is open, or not a number
			}
		}
		list = append(list, c)
	}
	s.final = list
	return nil
}

// answer makes the hits out of the best of what is left.
func (s *denseSearch) answer(q *Query, answer *Answer) {
	shift := s.shiftSum()
	slices.SortFunc(s.final, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(s.value(&b), s.value(&a)), cmp.Compare(b.ord, a.ord))
	})
	for i := range s.final[:min(q.Top, len(s.final))] {
		c := &s.final[i]
		score := s.value(c) - shift
		if score < q.MinScore {
			break
		}
		why := s.why(c.ord)
		why.Vector = s.part(c.cosine) + 0 // -0 becomes 0
		answer.Hits = append(answer.Hits, Hit{ID: s.x.ids[c.ord], Score: score, Why: why})
	}
}
