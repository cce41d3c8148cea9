package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"abagraph/fact"
)

// Bounds of the graph view (C-58).
const (
	DefaultGraphNodes = 1_000
	FocusNodes        = 80 // with q
)

// GraphQuery asks for the graph as a whole, or around what Q matches. Make its
// Read with NewRead.
type GraphQuery struct {
	Read
	Q     string // part of an entity's name, a predicate or an object, in any case
	Limit int    // nodes; 0 = DefaultGraphNodes
}

// Node is an entity in the graph.
type Node struct {
	ID        string
	Degree    int // edges that lead to or from it
	FactCount int // facts of which it is the subject
}

// Graph is the graph that holds: its nodes, those with most edges and facts
// first, and the edges between them. The totals count what there is without the
// cut.
type Graph struct {
	Nodes      []Node
	Edges      []Edge
	TotalNodes int
	TotalEdges int
	Limited    bool
}

// Graph looks at every fact that holds, twice: once to rank the nodes, once for
// the edges between those that are shown. What it keeps in memory grows with the
// number of entities, not of facts; a few such looks at a time are enough.
func (s *Service) Graph(ctx context.Context, c Caller, q *GraphQuery, trace *Trace) (*Graph, Meta, error) {
	if err := s.heavy.enter(ctx); err != nil {
		return nil, Meta{}, err
	}
	defer s.heavy.leave()
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	v := &graphView{g: newGrapher(r, nil), r: r, needle: strings.ToLower(q.Q), nodes: map[string]*Node{}, seeds: map[string]bool{}}
	if err := v.count(); err != nil {
		return nil, r.meta, err
	}
	if v.needle != "" {
		if err := v.focus(); err != nil {
			return nil, r.meta, err
		}
	}
	graph, err := v.show(q)
	if err != nil {
		return nil, r.meta, err
	}
	trace.Step("execute", "full_scan")
	trace.Name("graph", "pick full_scan index → rank nodes → edges between them")
	trace.Int("candidates_scanned", v.g.scanned)
	trace.Int("nodes_total", graph.TotalNodes)
	trace.Int("nodes_returned", len(graph.Nodes))
	trace.Int("edges_returned", len(graph.Edges))
	trace.Bool("limit_hit", graph.Limited)
	return graph, r.meta, nil
}

type graphView struct {
	g      *grapher
	r      *reading
	needle string // in lower case; "" = everything
	nodes  map[string]*Node
	seeds  map[string]bool // with a needle: nodes of facts that match
	near   map[string]bool // with a needle: seeds and their neighbours
	total  int             // edges
}

// each visits every fact that holds, and tells whether it is an edge.
func (v *graphView) each(visit func(f *fact.Fact, edge bool)) error {
	var failed error
	err := v.r.view.Each(v.r.ctx, &fact.Query{Scope: v.r.scope, At: v.r.at}, func(f *fact.Fact) bool {
		v.g.scanned++
		edge, err := v.g.isNode(v.r.ctx, f.Object)
		if err != nil {
			failed = err
			return false
		}
		visit(f, edge)
		return true
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("look at the graph: %w", err)
	}
	return nil
}

func (v *graphView) node(id string) *Node {
	n := v.nodes[id]
	if n == nil {
		n = &Node{ID: id}
		v.nodes[id] = n
	}
	return n
}

// count counts the facts and edges of every node, and notes the seeds.
func (v *graphView) count() error {
	return v.each(func(f *fact.Fact, edge bool) {
		v.node(f.Subject).FactCount++
		if edge {
			v.total++
			v.node(f.Subject).Degree++
			if f.Object.Text != f.Subject {
				v.node(f.Object.Text).Degree++
			}
		}
		if v.needle == "" {
			return
		}
		object := f.Object.Kind == fact.Text && v.matches(f.Object.Text)
		if object || v.matches(f.Subject) || v.matches(f.Predicate) {
			v.seeds[f.Subject] = true
			if edge {
				v.seeds[f.Object.Text] = true
			}
		}
	})
}

func (v *graphView) matches(text string) bool {
	return strings.Contains(strings.ToLower(text), v.needle)
}

// focus finds the neighbours of the seeds.
func (v *graphView) focus() error {
	v.near = make(map[string]bool, len(v.seeds))
	for id := range v.seeds {
		v.near[id] = true
	}
	return v.each(func(f *fact.Fact, edge bool) {
		if edge && (v.seeds[f.Subject] || v.seeds[f.Object.Text]) {
			v.near[f.Subject], v.near[f.Object.Text] = true, true
		}
	})
}

// show picks the nodes that are shown and reads the edges between them.
func (v *graphView) show(q *GraphQuery) (*Graph, error) {
	limit := q.Limit
	if limit == 0 {
		limit = DefaultGraphNodes
	}
	if v.needle != "" {
		limit = min(limit, FocusNodes)
	}
	ranked := v.ranked()
	g := &Graph{TotalNodes: len(ranked), Limited: len(ranked) > limit}
	shown := make(map[string]bool, limit)
	for _, n := range ranked[:min(len(ranked), limit)] {
		g.Nodes = append(g.Nodes, *n)
		shown[n.ID] = true
	}
	err := v.each(func(f *fact.Fact, edge bool) {
		if !edge || v.near != nil && (!v.near[f.Subject] || !v.near[f.Object.Text]) {
			return
		}
		g.TotalEdges++
		if shown[f.Subject] && shown[f.Object.Text] && len(g.Edges) < maxGraphEdges {
			g.Edges = append(g.Edges, Edge{From: f.Subject, To: f.Object.Text, Fact: *f})
		}
	})
	if err != nil {
		return nil, err
	}
	g.Limited = g.Limited || len(g.Edges) < g.TotalEdges
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Fact.Tx, a.Fact.Tx), slices.Compare(a.Fact.ID[:], b.Fact.ID[:]))
	})
	return g, nil
}

// ranked returns the nodes, seeds first, then by edges and facts, then by name.
func (v *graphView) ranked() []*Node {
	var list []*Node
	for id, n := range v.nodes {
		if v.near == nil || v.near[id] {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *Node) int {
		seed := 0
		if v.seeds[a.ID] != v.seeds[b.ID] {
			seed = 1
			if v.seeds[a.ID] {
				seed = -1
			}
		}
		return cmp.Or(seed, cmp.Compare(b.Degree+b.FactCount, a.Degree+a.FactCount), strings.Compare(a.ID, b.ID))
	})
	return list
}
