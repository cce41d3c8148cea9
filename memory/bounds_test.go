package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/memory"
)

// edge makes an assert that stands beside all others.
func (w *world) edge(from, predicate, to string) fact.Assert {
	return fact.Assert{
		ID: w.newID(), Subject: from, Predicate: predicate, Object: fact.TextObject(to), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
		Confidence: 1, Policy: fact.Coexist, KnownAt: fact.NoInstant,
	}
}

// tell writes asserts of tenant ta in one tx. The model, which is slow, is not
// told.
func (w *world) tell(asserts ...fact.Assert) {
	w.Helper()
	w.clock++
	result := w.store(&fact.Request{Tenant: "ta", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{Asserts: asserts}})
	if result.Err != nil {
		w.Fatal(result.Err)
	}
}

func sameEdge(a, b memory.Edge) bool {
	return a.Fact.ID == b.Fact.ID && a.From == b.From && a.To == b.To
}

func (w *world) operator() memory.Caller { return memory.Caller{Operator: true, Tenant: "ta"} }

// TestGraphHubIsCut: beyond the bounds an answer holds the newest edges of what
// is nearest, says so, and is the same each time.
func TestGraphHubIsCut(t *testing.T) {
	w := newWorld(t, 1)
	const spokes = 10_050
	w.tell(w.edge("Boss:1", "leads", "Hub:1")) // older than all others
	batch := make([]fact.Assert, 0, spokes/3)
	for i := range spokes {
		batch = append(batch, w.edge(fmt.Sprintf("S:%05d", i), "of", "Hub:1"))
		if len(batch) == cap(batch) {
			w.tell(batch...)
			batch = batch[:0]
		}
	}
	w.tell(w.edge("Hub:1", "in", "City:x"), w.edge("Person:a", "at", "S:00007"))
	ctx, c := t.Context(), w.operator()

	q := &memory.WalkQuery{Read: memory.NewRead(), Start: "Hub:1", Depth: 3, Direction: memory.Both}
	walk, _, err := w.service.Walk(ctx, c, q, nil)
	if err != nil || !walk.Limited || len(walk.Reached) != 10_000 || walk.Reached[1] != "City:x" {
		t.Fatalf("%d edges, %d reached, limited %v, %v", len(walk.Edges), len(walk.Reached), walk.Limited, err)
	}
	if again, _, err := w.service.Walk(ctx, c, q, nil); err != nil || !slices.EqualFunc(again.Edges, walk.Edges, sameEdge) {
		t.Errorf("another cut the second time: %v", err)
	}
	led := &memory.WalkQuery{Read: memory.NewRead(), Start: "Hub:1", Depth: 1, Direction: memory.In, Predicates: []string{"leads"}}
	if walk, _, err := w.service.Walk(ctx, c, led, nil); err != nil || walk.Limited || len(walk.Edges) != 1 || walk.Reached[1] != "Boss:1" {
		t.Errorf("what leads the hub: %+v, %v", walk, err)
	}
	q.Direction = memory.Out
	if walk, _, err := w.service.Walk(ctx, c, q, nil); err != nil || walk.Limited || len(walk.Edges) != 1 {
		t.Errorf("out of the hub: %+v, %v", walk, err)
	}
	paths, _, err := w.service.Paths(ctx, c, &memory.PathQuery{Read: memory.NewRead(), From: "Person:a", To: "City:x", Depth: 4, Direction: memory.Out}, nil)
	if err != nil || paths.Length() != 3 || paths.Limited {
		t.Errorf("a path through the hub: %+v, %v", paths, err)
	}
	graph, _, err := w.service.Graph(ctx, c, &memory.GraphQuery{Read: memory.NewRead(), Limit: 10_000}, nil)
	if err != nil || !graph.Limited || len(graph.Nodes) != 10_000 || graph.TotalNodes != spokes+4 || graph.TotalEdges != spokes+3 ||
		graph.Nodes[0].ID != "Hub:1" || graph.Nodes[0].Degree != spokes+2 || graph.Nodes[0].FactCount != 1 {
		t.Errorf("%d nodes of %d, %d edges, limited %v, %v", len(graph.Nodes), graph.TotalNodes, graph.TotalEdges, graph.Limited, err)
	}
}

// TestGraphEdgesAreCutByAge: where the nodes that are shown have more edges than
// an answer holds, the newest are told, also when that state lies in the past.
func TestGraphEdgesAreCutByAge(t *testing.T) {
	w := newWorld(t, 2)
	for p := range 102 {
		var batch []fact.Assert
		for i := range 100 {
			batch = append(batch, w.edge(fmt.Sprintf("N:%d", i%10), fmt.Sprintf("p%03d", p), fmt.Sprintf("N:%d", i/10)))
		}
		w.tell(batch...)
	}
	q := &memory.GraphQuery{Read: memory.NewRead()}
	q.Pinned, q.Tx = true, w.Position().Tx
	graph, _, err := w.service.Graph(t.Context(), w.operator(), q, nil)
	if err != nil || !graph.Limited || len(graph.Edges) != 10_000 || graph.TotalEdges != 10_200 || graph.TotalNodes != 10 {
		t.Fatalf("%d of %d edges, limited %v, %v", len(graph.Edges), graph.TotalEdges, graph.Limited, err)
	}
	if first, last := graph.Edges[0].Fact.Tx, graph.Edges[9_999].Fact.Tx; first != q.Tx || last != 3 {
		t.Errorf("edges of tx %d to %d", first, last)
	}
	for i := range 50 {
		w.tell(fact.Assert{ID: w.newID(), Subject: fmt.Sprintf("N:%d", i%10), Predicate: fmt.Sprintf("p%03d", i), Object: fact.TextObject("N:other"),
			ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant})
	}
	if again, _, err := w.service.Graph(t.Context(), w.operator(), q, nil); err != nil || !slices.EqualFunc(again.Edges, graph.Edges, sameEdge) {
		t.Errorf("another answer after later writes: %v", err)
	}
}

// TestGraphReadsEnd: a read that its caller gives up ends, and so does one that
// waits for its turn.
func TestGraphReadsEnd(t *testing.T) {
	w := newWorld(t, 3)
	w.tell(w.edge("N:1", "p", "N:2"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.service.Walk(gone, w.operator(), &memory.WalkQuery{Read: memory.NewRead(), Start: "N:1", Depth: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("walk: %v", err)
	}
	if _, _, err := w.service.Paths(gone, w.operator(), &memory.PathQuery{Read: memory.NewRead(), From: "N:1", To: "N:2", Depth: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("paths: %v", err)
	}

	entered, release := make(chan struct{}), make(chan struct{})
	s, err := memory.New(memory.Options{Engine: w, Timeout: time.Hour, View: func(ctx context.Context) (memory.View, error) {
		v, err := w.view(ctx)
		return &stuckView{View: v, entered: entered, release: release}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	look := func(ctx context.Context) error {
		_, _, err := s.Graph(ctx, w.operator(), &memory.GraphQuery{Read: memory.NewRead()}, nil)
		return err
	}
	done := make(chan error)
	for range 2 {
		go func() { done <- look(t.Context()) }()
		<-entered
	}
	if err := look(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("given up while it waited: %v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := look(late); fact.CodeOf(err) != fact.Timeout {
		t.Errorf("timed out while it waited: %v", err)
	}
	close(release) // one look is all that each needs
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// stuckView holds every look at the whole graph up until it is let go.
type stuckView struct {
	memory.View
	entered, release chan struct{}
}

func (v *stuckView) Each(ctx context.Context, q *fact.Query, visit func(*fact.Fact) bool) error {
	v.entered <- struct{}{}
	<-v.release
	return v.View.Each(ctx, q, visit)
}
