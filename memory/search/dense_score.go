package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"abagraph/fact"
)

// denseScorer judges facts by their vectors, with the mean and the spread that a
// search of the same question would have.
type denseScorer struct {
	*denseSearch
	ctx  context.Context
	from Source
}

// denseScorer makes ready to judge by vectors, in a state that is open; nil where
// there is no room for them.
func (m *Indexes) denseScorer(ctx context.Context, x *Index, from Source, q *Query) (*denseScorer, error) {
	if err := x.followVectors(ctx, from, q.Dense.Model, m.most); errors.Is(err, errTooLarge) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.dense == nil || x.dense.model != q.Dense.Model {
		return nil, errBegunAnew
	}
	s := x.newDenseSearch(q)
	defer s.done()
	if s.restrict(x, &q.Filter) && q.Mode != Vector {
		if err := s.measure(ctx, q.Mode); err != nil {
			return nil, err
		}
	} else {
		s.query = x.dense.table.NewQuery(q.Dense.Vector)
	}
	return &denseScorer{s, ctx, from}, nil // its columns are another's now
}

// score is what a fact's vector gives to its score; 0 where it has none.
func (s *denseScorer) score(f *fact.Fact) (float64, error) {
	if !s.sees(f.Statement()) {
		return 0, nil
	}
	v, _, err := s.from.Vector(s.ctx, s.x.scope, s.want.Model, f.Statement())
	if err != nil {
		return 0, fmt.Errorf("read a vector: %w", err)
	}
	if v == nil {
		return 0, nil
	}
	cosine := s.query.Exact(v)
	if !(math.Abs(cosine) < 2) {
		return 0, nil
	}
	return s.part(cosine), nil
}

// sees reports whether a statement had its vector at the record time that is read.
func (s *denseScorer) sees(statement fact.ID) bool {
	s.x.mu.RLock()
	defer s.x.mu.RUnlock()
	if s.x.dense == nil {
		return false
	}
	row, there := s.x.dense.rowOf[statement]
	return there && s.x.dense.table.Tx(row) <= s.want.Tx
}
