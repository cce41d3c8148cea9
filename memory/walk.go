package memory

import (
	"context"

	"abagraph/fact"
)

// Bounds of a walk's depth (C-50).
const (
	DefaultWalkDepth = 2
	MaxWalkDepth     = 16
)

// WalkQuery asks for what can be reached from a node. Make its Read with
// NewRead.
type WalkQuery struct {
	Read
	Start      string
	Depth      int // edges from the start, 0 … MaxWalkDepth; 0 = the start alone
	Direction  Direction
	Predicates []string // edges that are followed; empty = any
}

// Walk is what was reached, breadth first: each node once, at its shortest
// distance, and each edge once. Limited tells that the walk was cut by the
// bounds on nodes, edges and bytes: what is there is the nearest, and the same
// each time.
type Walk struct {
	Start   string
	Reached []string
	Edges   []Edge
	Limited bool
}

// Walk walks the graph that holds at the point in both times that is read. A
// start that no fact mentions is a warning, not an error.
func (s *Service) Walk(ctx context.Context, c Caller, q *WalkQuery, trace *Trace) (*Walk, Meta, error) {
	leave, err := s.heavy.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	g := newGrapher(r, q.Predicates)
	w := &walker{g: g, walk: &Walk{Start: q.Start}, nodes: map[string]bool{}, edges: map[fact.ID]bool{}}
	if err := w.run(r.ctx, q); err != nil {
		return nil, r.meta, err
	}
	if len(w.walk.Edges) == 0 {
		if err := r.warnUnknown(q.Start); err != nil {
			return nil, r.meta, err
		}
	}
	r.meta.Backfilled = backfilled(w.walk.Edges)
	trace.Step("execute", "breadth first")
	trace.Name("walk", "pick "+picks(q.Direction)+" → breadth-first walk")
	trace.Text("input.start", q.Start)
	trace.Text("input.direction", q.Direction.String())
	trace.Int("candidates_scanned", g.scanned)
	trace.Int("reached", len(w.walk.Reached))
	trace.Int("edges_emitted", len(w.walk.Edges))
	trace.Bool("limit_hit", w.walk.Limited)
	return w.walk, r.meta, nil
}

// picks names the indexes that a direction reads.
func picks(d Direction) string {
	return [...]string{"by_subject index", "by_object index", "by_subject and by_object index"}[d]
}

type walker struct {
	g     *grapher
	walk  *Walk
	nodes map[string]bool
	edges map[fact.ID]bool
}

func (w *walker) run(ctx context.Context, q *WalkQuery) error {
	w.reach(q.Start)
	level := w.walk.Reached
	for depth := 0; depth < q.Depth && len(level) > 0; depth++ {
		first := len(w.walk.Reached)
		for _, node := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.expand(ctx, node, q.Direction); err != nil {
				return err
			}
			if w.walk.Limited {
				return nil
			}
		}
		level = w.walk.Reached[first:]
	}
	w.walk.Limited = w.g.cut
	return nil
}

func (w *walker) expand(ctx context.Context, node string, d Direction) error {
	edges, err := w.g.around(ctx, node, d)
	if err != nil {
		return err
	}
	for i := range edges {
		e := &edges[i]
		if w.edges[e.Fact.ID] {
			continue
		}
		if len(w.walk.Edges) == maxGraphEdges || len(w.walk.Reached) >= maxGraphNodes || !w.g.keep(e) {
			w.walk.Limited = true
			return nil
		}
		w.edges[e.Fact.ID] = true
		w.walk.Edges = append(w.walk.Edges, *e)
		w.reach(e.From)
		w.reach(e.To)
	}
	return nil
}

func (w *walker) reach(node string) {
	if !w.nodes[node] {
		w.nodes[node] = true
		w.walk.Reached = append(w.walk.Reached, node)
	}
}
