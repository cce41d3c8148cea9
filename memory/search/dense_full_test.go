package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"abagraph/fact"
)

// countedVectors is a source that counts the full vectors that are read out of it.
type countedVectors struct {
	*vectored
	read int
}

func (c *countedVectors) Vectors(ctx context.Context, s fact.Scope, m fact.Model, list []fact.VectorAt, visit func(int, []float32)) error {
	c.read += len(list)
	room := make([]float32, m.Dim) // a vector is the visitor's only until it returns
	return c.vectored.Vectors(ctx, s, m, list, func(i int, vector []float32) {
		copy(room, vector)
		visit(i, room)
	})
}

// TestFullVectorsAreReadOnce: a search whose full vectors were read lately reads none,
// and finds what it found, to the last bit; the most that are kept is a share of all.
func TestFullVectorsAreReadOnce(t *testing.T) {
	v := withVectors(6_400, 64, 40, false)
	x, from := v.index(t), &countedVectors{vectored: v}
	v.search(t, x, v.query(v.vectors[0], Vector, 1))
	x.dense.full = newFulls()
	rnd := rand.New(rand.NewPCG(4, 4))
	look := func(q *Query) (list []fact.ID, scores []float64, read int) {
		x.mu.RLock()
		defer x.mu.RUnlock()
		before := from.read
		answer, err := x.searchDense(t.Context(), from, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range answer.Hits {
			scores = append(scores, h.Score)
		}
		return idsOf(answer), scores, from.read - before
	}
	for range 50 {
		q := v.query(v.question(rnd), Vector, 10)
		q.Predicate = "rare"
		ids, scores, _ := look(q)
		again, same, read := look(q)
		if !slices.Equal(again, ids) || !slices.Equal(same, scores) || read != 0 {
			t.Fatalf("again %v is found with %v, reading %d vectors, not %v with %v", again, same, read, ids, scores)
		}
		if want := v.nearest(q, func(f *fact.Fact) bool { return f.Predicate == "rare" }); !slices.Equal(ids, want) {
			t.Fatalf("%v is found, not %v", ids, want)
		}
	}
	for range 200 {
		look(v.query(v.question(rnd), Vector, 10))
	}
	if n := len(x.dense.full.at); n != 100 || len(x.dense.full.ring) != 100 {
		t.Errorf("of 6,400 vectors %d are kept in full, in %d places", n, len(x.dense.full.ring))
	}
}

// TestFullVectorsOfTheErasedGo: what a purge takes is kept nowhere.
func TestFullVectorsOfTheErasedGo(t *testing.T) {
	v := withVectors(640, 16, 5, false)
	x := v.index(t)
	q := v.query(v.vectors[9], Vector, 3)
	lost := idsOf(v.search(t, x, q))[0]
	if x.dense.full.get(lost) == nil {
		t.Fatal("the nearest vector is not kept")
	}
	x.mu.Lock()
	x.remove([]uint32{x.byID[lost]})
	x.mu.Unlock()
	if x.dense.full.get(lost) != nil {
		t.Error("it is kept still")
	}
	if got := idsOf(v.search(t, x, q)); len(got) != 3 || slices.Contains(got, lost) {
		t.Errorf("what is left finds %v", got)
	}
}

// TestFullVectorsStayWhileTheyAreAskedFor: what is used again outlives what is not.
func TestFullVectorsStayWhileTheyAreAskedFor(t *testing.T) {
	kept := newFulls()
	id := func(n byte) fact.ID { return fact.ID{15: n} }
	for n := range byte(100) {
		kept.keep(id(n+1), []float32{float32(n)}, 4)
		if kept.get(id(1)) == nil {
			t.Fatalf("the one that is always asked for is gone after %d", n)
		}
	}
	if v := kept.get(id(100)); len(v) != 1 || v[0] != 99 || len(kept.at) != 4 || kept.get(id(50)) != nil {
		t.Errorf("the last is %v, and %d are kept", v, len(kept.at))
	}
	kept.drop(id(100))
	kept.keep(id(101), []float32{1}, 4)
	kept.keep(id(102), []float32{2}, 4)
	if kept.get(id(100)) != nil || kept.get(id(1)) == nil || len(kept.at) > 4 {
		t.Errorf("%d are kept after one was dropped", len(kept.at))
	}
	if kept.keep(id(103), []float32{3}, 0); kept.get(id(103)) != nil {
		t.Error("one is kept where there is no room")
	}
}
