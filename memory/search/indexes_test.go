package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
)

// shelf is a store of several tenants for the tests of Indexes.
type shelf struct {
	*heap
	tenants map[string]*heap
	epoch   string
	hold    chan struct{} // closed = builds may go on; nil = they may
}

func (s *shelf) Position() fact.Position { return fact.Position{Tx: 1_000, Epoch: s.epoch} }

func (s *shelf) EachVersion(ctx context.Context, scope fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error {
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.tenants[scope.Tenant].EachVersion(ctx, scope, now, past)
}

func newShelf(sizes map[string]int) *shelf {
	s := &shelf{heap: &heap{}, tenants: map[string]*heap{}, epoch: "e1"}
	for tenant, n := range sizes {
		s.tenants[tenant] = skewed(n, []string{"price", "budget", "cost", "team"})
	}
	return s
}

func (s *shelf) indexes(t *testing.T, most int64) *Indexes {
	t.Helper()
	m := NewIndexes(most, func() (Source, func(), error) { return s, func() {}, nil })
	t.Cleanup(m.Close)
	return m
}

func (s *shelf) find(t *testing.T, m *Indexes, tenant string) ([]Hit, error) {
	t.Helper()
	scope := fact.Scope{Tenant: tenant}
	if err := m.Ready(t.Context(), scope, s.Position); err != nil {
		return nil, err
	}
	q := &Query{Text: "price", Mode: Lexical, Top: 3}
	q.Moment, q.Statuses, q.From = Moment{Tx: 1_000}, fact.AllStatuses, fact.NoInstant
	answer, err := m.Search(t.Context(), scope, s, q)
	if err != nil {
		return nil, err
	}
	return answer.Hits, nil
}

// TestIndexesStayWithinTheirBytes: whole tenants are forgotten, those first that
// were not searched for longest, and found again afterwards.
func TestIndexesStayWithinTheirBytes(t *testing.T) {
	s := newShelf(map[string]int{"a": 300, "b": 300, "c": 300})
	probe := s.indexes(t, 0)
	if _, err := s.find(t, probe, "a"); err != nil {
		t.Fatal(err)
	}
	m := s.indexes(t, probe.Bytes()*5/2) // room for two
	want := map[string]string{}
	for _, tenant := range []string{"a", "b", "a", "c", "a", "b", "c"} {
		hits, err := s.find(t, m, tenant)
		if err != nil || len(hits) != 3 {
			t.Fatalf("%s: %v, %v", tenant, hits, err)
		}
		if got := fmt.Sprint(hits); want[tenant] == "" {
			want[tenant] = got
		} else if want[tenant] != got {
			t.Errorf("%s finds %s, and found %s", tenant, got, want[tenant])
		}
		if m.Bytes() > m.most {
			t.Errorf("%d bytes, at most %d", m.Bytes(), m.most)
		}
		if len(m.list) > 2 || m.list[fact.Scope{Tenant: tenant}] == nil {
			t.Errorf("after %s: %v", tenant, m.list)
		}
	}
	if m.list[fact.Scope{Tenant: "a"}] != nil {
		t.Error("the one that was not searched for longest is still there")
	}
}

func TestAnIndexThatDoesNotFitIsRefused(t *testing.T) {
	s := newShelf(map[string]int{"a": 20, "b": 900})
	m := s.indexes(t, 60_000)
	if _, err := s.find(t, m, "b"); fact.CodeOf(err) != fact.TooLarge {
		t.Errorf("too large: %v", err)
	}
	if hits, err := s.find(t, m, "a"); err != nil || len(hits) == 0 {
		t.Errorf("the other tenant: %v, %v", hits, err)
	}
}

// TestBuildingGoesOnWithoutItsSearch: a search whose time is up leaves the index
// to be made all the same; a restored store is indexed anew.
func TestBuildingGoesOnWithoutItsSearch(t *testing.T) {
	s := newShelf(map[string]int{"a": 50})
	s.hold = make(chan struct{})
	m := s.indexes(t, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	scope := fact.Scope{Tenant: "a"}
	var building *Building
	if err := m.Ready(ctx, scope, s.Position); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &building) || building.Percent != 0 {
		t.Fatalf("ready at once: %v", err)
	}
	close(s.hold)
	if hits, err := s.find(t, m, "a"); err != nil || len(hits) == 0 {
		t.Fatalf("%v, %v", hits, err)
	}
	s.tenants["a"], s.epoch = skewed(5, []string{"other"}), "e2"
	if hits, err := s.find(t, m, "a"); err != nil || len(hits) != 0 {
		t.Errorf("after a restore: %v, %v", hits, err)
	}
}

// TestAFillingTellsHowFarItIs: the percentage rises, and is not whole before the end.
func TestAFillingTellsHowFarItIs(t *testing.T) {
	source := skewed(5_000, []string{"word", "other"})
	var percent atomic.Int32
	watched := &watchedSource{heap: source, percent: &percent}
	if err := newIndex(fact.Scope{Tenant: "t"}).fill(t.Context(), watched, math.MaxInt64, &percent); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(watched.seen) || watched.seen[0] != 0 || watched.seen[len(watched.seen)-1] != 4096*99/5000 {
		t.Fatalf("the filling told %v", slices.Compact(watched.seen))
	}
}

// watchedSource looks at a percentage with each fact.
type watchedSource struct {
	*heap
	percent *atomic.Int32
	seen    []int32
}

func (w *watchedSource) EachVersion(ctx context.Context, scope fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error {
	return w.heap.EachVersion(ctx, scope, func(f *fact.Fact) bool {
		more := now(f)
		w.seen = append(w.seen, w.percent.Load())
		return more
	}, past)
}

func TestClosingEndsABuild(t *testing.T) {
	s := newShelf(map[string]int{"a": 50})
	s.hold = make(chan struct{}) // for ever
	m := s.indexes(t, 0)
	done := make(chan error, 1)
	go func() { done <- m.Ready(t.Context(), fact.Scope{Tenant: "a"}, s.Position) }()
	for building := false; !building; {
		m.mu.Lock()
		building = len(m.list) > 0
		m.mu.Unlock()
	}
	m.Close()
	if err := <-done; fact.CodeOf(err) != fact.Closed {
		t.Errorf("a build that was ended: %v", err)
	}
}
