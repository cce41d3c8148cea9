package search

import (
	"context"
	"errors"
	"maps"
	"math"

	"abagraph/fact"
)

// denseScorer judges facts by their vectors, with the mean and the spread that a
// search of the same question would have.
type denseScorer struct {
	*denseSearch
	ctx  context.Context
	from Source
	read map[fact.ID]float64 // cosines by statement
}

// denseScorer makes ready to judge by vectors, in a state that is open; nil where
// there is no room for them.
func (m *Indexes) denseScorer(ctx context.Context, x *Index, from Source, q *Query) (*denseScorer, error) {
	if err := m.vectors(ctx, x, from, q); errors.Is(err, errTooLarge) {
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
	switch known := q.Dense.Cosines; {
	case q.Mode == Vector || !s.restrict(x, &q.Filter):
		s.query = x.dense.table.NewQuery(q.Dense.Vector)
	case known.known:
		s.query, s.mean, s.scale = x.dense.table.NewQuery(q.Dense.Vector), known.mean, known.scale
	default:
		if err := s.measure(ctx, q.Mode); err != nil {
			return nil, err
		}
	}
	read := maps.Clone(q.Dense.Cosines.exact)
	if read == nil {
		read = make(map[fact.ID]float64)
	}
	return &denseScorer{s, ctx, from, read}, nil // its columns are another's now
}

// ahead reads the vectors of the facts that are to be judged, all at once.
func (s *denseScorer) ahead(list []*fact.Fact) error {
	want := make([]fact.VectorAt, 0, len(list))
	s.x.mu.RLock()
	for _, f := range list {
		id := f.Statement()
		if _, there := s.read[id]; there || s.x.dense == nil {
			continue
		}
		s.read[id] = math.NaN()
		if row, there := s.x.dense.rowOf[id]; there && s.x.dense.table.Tx(row) <= s.want.Tx {
			want = append(want, fact.VectorAt{Statement: id, Tx: s.x.vectorTx(id, row)})
		}
	}
	s.x.mu.RUnlock()
	cosines, err := s.exact(s.ctx, s.from, want)
	for i, cosine := range cosines {
		s.read[want[i].Statement] = cosine
	}
	return err
}

// score is what a fact's vector gives to its score; 0 where it has none.
func (s *denseScorer) score(f *fact.Fact) (float64, error) {
	if err := s.ahead([]*fact.Fact{f}); err != nil {
		return 0, err
	}
	cosine := s.read[f.Statement()]
	if !(math.Abs(cosine) < 2) {
		return 0, nil
	}
	return s.part(cosine), nil
}
