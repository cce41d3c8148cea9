package search

import (
	"context"

	"abagraph/fact"
)

// Scorer judges single facts by one question, with the figures of one moment. It
// is not safe for concurrent use.
type Scorer struct {
	plan  *plan
	terms map[string]uint32 // the place in clauses of the first clause of a term
	next  []uint32          // 1 + the next clause of the same term; 0 = none
	texts tokenizer
	count []int // by first clause
	seen  []uint32
	near  map[fact.ID]float64
	size  int
	times int
	dense *denseScorer // nil where vectors do not count
	err   error
}

// Err tells what went wrong in Score.
func (s *Scorer) Err() error { return s.err }

// Scorer makes ready to judge facts of a scope by a question, in a state that is
// open. The query's Top means nothing here, and its filters only say over which facts
// cosines are averaged.
func (m *Indexes) Scorer(ctx context.Context, scope fact.Scope, from Source, q *Query) (*Scorer, error) {
	x, err := m.index(ctx, scope, from)
	if err != nil {
		return nil, err
	}
	var dense *denseScorer
	if q.Dense != nil {
		if dense, err = m.denseScorer(ctx, x, from, q); err != nil {
			return nil, err
		}
		if dense == nil { // no room
			plain := *q
			plain.Dense, plain.Mode = nil, Lexical
			q = &plain
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.prepare(q)
	s := &Scorer{plan: p, dense: dense, terms: map[string]uint32{}, next: make([]uint32, len(p.clauses)), count: make([]int, len(p.clauses)), near: map[fact.ID]float64{}}
	for i := len(p.clauses) - 1; i >= 0; i-- {
		if later, there := s.terms[p.clauses[i].term]; there {
			s.next[i] = later + 1
		}
		s.terms[p.clauses[i].term] = uint32(i)
	}
	for _, n := range p.near {
		s.near[x.ids[n.ord]] = n.gain
	}
	s.texts = tokenizer{emit: func(t token) {
		s.size += s.times
		if i, there := s.terms[string(t.term)]; there {
			if s.count[i] == 0 {
				s.seen = append(s.seen, i)
			}
			s.count[i] += s.times
		}
	}}
	return s, nil
}

// Ahead reads what is needed to judge some facts, which is quicker than to read it
// one by one.
func (s *Scorer) Ahead(list []*fact.Fact) {
	if s.dense != nil && s.err == nil {
		s.err = s.dense.ahead(list)
	}
}

// Score judges one fact. It is the score that a search of the same question would
// give it.
func (s *Scorer) Score(f *fact.Fact) (float64, Why) {
	s.size = 0
	eachField(f, func(text string, weight int) {
		s.times = weight
		s.texts.text(text)
	})
	counts := make([]uint8, len(s.plan.clauses))
	for _, first := range s.seen {
		n := counted{n: s.count[first]}.count()
		s.count[first] = 0
		for i := first; ; i = s.next[i] - 1 {
			counts[i] = n
			if s.next[i] == 0 {
				break
			}
		}
	}
	s.seen = s.seen[:0]
	score, w := s.plan.judge(counts, uint32(s.size), s.near[f.ID])
	if s.dense != nil && s.err == nil {
		w.Vector, s.err = s.dense.score(f)
		score += w.Vector
	}
	return score, w
}
