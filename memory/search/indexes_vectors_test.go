package search

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"abagraph/fact"
)

// slow is a source that hands out half of its vectors, and the others when it may.
type slow struct {
	*vectored
	may     chan struct{}
	readers atomic.Int32 // under way
}

func (s *slow) EachVector(ctx context.Context, scope fact.Scope, m fact.Model, after uint64, visit func(fact.ID, uint64, []float32) bool) error {
	s.readers.Add(1)
	defer func() { s.readers.Add(-1) }()
	n := 0
	var ended error
	err := s.vectored.EachVector(ctx, scope, m, after, func(id fact.ID, tx uint64, v []float32) bool {
		if n++; tx > s.tx/2 {
			select {
			case <-s.may:
			case <-ctx.Done():
				ended = ctx.Err()
				return false
			}
		}
		return visit(id, tx, v)
	})
	return errors.Join(err, ended)
}

// TestVectorsAreReadWithoutTheSearch: a search of the present is told soon how far the
// reading of vectors is, one of words alone and one that is to be exact are not; the
// reading goes on, once, and then all find.
func TestVectorsAreReadWithoutTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{vectored: withVectors(1_000, 16, 5, false), may: make(chan struct{})}
		m := NewIndexes(0, func() (Source, func(), error) { return s, func() {}, nil })
		defer m.Close()
		scope := fact.Scope{Tenant: "t"}
		if err := m.Ready(t.Context(), scope, s.Position); err != nil {
			t.Fatal(err)
		}
		ask := func(mode Mode, tune func(*Query)) (*Answer, error) {
			q := s.query(s.vectors[999], mode, 1)
			q.Text = "word1"
			tune(q)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			return m.Search(ctx, scope, s, q)
		}
		plain := func(*Query) {}
		for range 3 {
			start := time.Now()
			got, err := ask(Hybrid, plain)
			if err != nil || got.Early == nil || got.Early.Percent < 40 || got.Early.Percent > 50 || len(got.Hits) > 0 {
				t.Fatalf("a search of the present is answered %+v, %v", got, err)
			}
			if waited := time.Since(start); waited > vectorPatience {
				t.Errorf("it waited %v", waited)
			}
			if got, err = ask(Lexical, func(q *Query) { q.Dense = nil }); err != nil || len(got.Hits) != 1 {
				t.Fatalf("words alone find %+v, %v", got, err)
			}
		}
		for name, tune := range map[string]func(*Query){
			"of the past":   func(q *Query) { q.Dense.Exact = true },
			"without words": func(q *Query) { q.Text = "" },
		} {
			var building *Building
			if got, err := ask(Vector, tune); !errors.As(err, &building) || !errors.Is(err, context.DeadlineExceeded) || !building.Vectors {
				t.Errorf("a search %s is answered %+v, %v", name, got, err)
			}
		}
		if n := s.readers.Load(); n != 1 {
			t.Errorf("%d read the vectors when nobody searches", n)
		}
		close(s.may)
		synctest.Wait()
		if n := s.readers.Load(); n != 0 {
			t.Errorf("%d still read the vectors", n)
		}
		got, err := ask(Vector, plain)
		if err != nil || got.Early != nil || len(got.Hits) != 1 || got.Hits[0].ID != s.facts[999].ID {
			t.Errorf("in the end the last vector finds %+v, %v", got, err)
		}
	})
}

// TestVectorsAreReadUntilTheEnd: the reading that goes on without a search ends with
// the indexes.
func TestVectorsAreReadUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{vectored: withVectors(500, 16, 5, false), may: make(chan struct{})}
		m := NewIndexes(0, func() (Source, func(), error) { return s, func() {}, nil })
		scope := fact.Scope{Tenant: "t"}
		if err := m.Ready(t.Context(), scope, s.Position); err != nil {
			t.Fatal(err)
		}
		q := s.query(s.vectors[0], Hybrid, 1)
		q.Text = "word1"
		if got, err := m.Search(t.Context(), scope, s, q); err != nil || got.Early == nil {
			t.Fatalf("the search is answered %+v, %v", got, err)
		}
		m.Close() // would wait for ever
		if n := s.readers.Load(); n != 0 {
			t.Errorf("%d still read the vectors", n)
		}
	})
}

// TestVectorsOfAForgottenIndexAreNotRead: an index that was forgotten meanwhile takes no
// more memory.
func TestVectorsOfAForgottenIndexAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{vectored: withVectors(2_000, 16, 5, false), may: make(chan struct{})}
		m := NewIndexes(0, func() (Source, func(), error) { return s, func() {}, nil })
		defer m.Close()
		scope := fact.Scope{Tenant: "t"}
		if err := m.Ready(t.Context(), scope, s.Position); err != nil {
			t.Fatal(err)
		}
		q := s.query(s.vectors[0], Hybrid, 1)
		q.Text = "word1"
		if got, err := m.Search(t.Context(), scope, s, q); err != nil || got.Early == nil {
			t.Fatalf("the search is answered %+v, %v", got, err)
		}
		x := m.list[scope].index
		m.drop(scope, x)
		close(s.may)
		synctest.Wait()
		if n := len(x.dense.rowOf); n > 1_500 || s.readers.Load() != 0 {
			t.Errorf("%d vectors of 2000 were read, and %d go on", n, s.readers.Load())
		}
	})
}
