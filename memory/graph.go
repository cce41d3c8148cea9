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
	FocusNodes        = 80 // with Q
	MaxFocusBytes     = fact.MaxNameBytes
)

// GraphQuery asks for the graph as a whole, or around what Q matches. Make its
// Read with NewRead.
type GraphQuery struct {
	Read
	// Q is part of the reference of an entity, of the predicate of one of its
	// facts, or of such a fact's text or number that is no entity, in any case.
	Q     string
	Limit int // nodes, at most fact.MaxLimit; 0 = DefaultGraphNodes
}

// size returns how many nodes are shown.
func (q *GraphQuery) size() int {
	limit := q.Limit
	if limit == 0 {
		limit = DefaultGraphNodes
	}
	if q.Q != "" {
		limit = min(limit, FocusNodes)
	}
	return limit
}

// Node is an entity in the graph.
type Node struct {
	ID        string
	Degree    int // edges that lead to or from it
	FactCount int // facts that hold of which it is the subject
}

// Graph is the graph that holds: its nodes, those with most edges and facts
// first, and the edges between them in the order of lists. With Q, what matches
// comes first, and the graph is that of the matches and their neighbours. The
// totals count what there is without the cut.
type Graph struct {
	Nodes      []Node
	Edges      []Edge
	TotalNodes int
	TotalEdges int
	Limited    bool
}

// Graph looks at every fact that holds, twice or, with Q, three times. What it
// keeps in memory grows with the number of entities, not of facts; a few such
// looks at a time are enough.
func (s *Service) Graph(ctx context.Context, c Caller, q *GraphQuery, trace *Trace) (*Graph, Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.heavy.enter(ctx); err != nil {
		return nil, Meta{}, err
	}
	defer s.heavy.leave()
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	v := &graphView{g: newGrapher(r, nil), r: r, needle: strings.ToLower(normalise(q.Q)), nodes: map[string]*Node{}}
	graph, err := v.look(q.size())
	if err != nil {
		return nil, r.meta, err
	}
	r.meta.Backfilled = backfilled(graph.Edges)
	trace.Step("execute", "full_scan")
	trace.Name("graph", "pick full_scan index → rank nodes → edges between them")
	trace.Int("candidates_scanned", v.g.scanned)
	trace.Int("nodes_total", graph.TotalNodes)
	trace.Int("nodes_returned", len(graph.Nodes))
	trace.Int("edges_total", graph.TotalEdges)
	trace.Int("edges_returned", len(graph.Edges))
	trace.Bool("limit_hit", graph.Limited)
	return graph, r.meta, nil
}

type graphView struct {
	g      *grapher
	r      *reading
	needle string // in lower case; "" = everything
	nodes  map[string]*Node
	seeds  map[string]bool // with a needle: nodes that match
	near   map[string]bool // with a needle: seeds and their neighbours
}

func (v *graphView) look(limit int) (*Graph, error) {
	if err := v.count(); err != nil {
		return nil, err
	}
	if v.needle != "" {
		if err := v.focus(); err != nil {
			return nil, err
		}
	}
	return v.show(limit)
}

// each visits every fact that holds, with the node that it leads to, if it is an
// edge.
func (v *graphView) each(visit func(f *fact.Fact, to string, edge bool)) error {
	var failed error
	err := v.r.view.Each(v.r.ctx, &fact.Query{Scope: v.r.scope, At: v.r.at}, func(f *fact.Fact) bool {
		v.g.scanned++
		to, edge, err := v.g.target(v.r.ctx, f)
		if err != nil {
			failed = err
			return false
		}
		visit(f, to, edge)
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
	v.seeds = map[string]bool{}
	return v.each(func(f *fact.Fact, to string, edge bool) {
		v.node(f.Subject).FactCount++
		if edge {
			v.node(f.Subject).Degree++
			if to != f.Subject {
				v.node(to).Degree++
			}
		}
		if v.needle != "" {
			v.seed(f, to, edge)
		}
	})
}

// seed notes what matches. An edge's object matches for itself: whoever leads to
// it is its neighbour already.
func (v *graphView) seed(f *fact.Fact, to string, edge bool) {
	if v.matches(f.Subject) || v.matches(f.Predicate) || !edge && v.matches(value(f.Object)) {
		v.seeds[f.Subject] = true
	}
	if edge && v.matches(to) {
		v.seeds[to] = true
	}
}

// value returns the text that an object is looked for by.
func value(o fact.Object) string {
	if o.Kind == fact.Text || o.Kind == fact.Number {
		return o.Text
	}
	return ""
}

func (v *graphView) matches(text string) bool {
	return strings.Contains(strings.ToLower(normalise(text)), v.needle)
}

// focus finds the neighbours of the seeds.
func (v *graphView) focus() error {
	v.near = make(map[string]bool, len(v.seeds))
	for id := range v.seeds {
		v.near[id] = true
	}
	return v.each(func(f *fact.Fact, to string, edge bool) {
		if edge && (v.seeds[f.Subject] || v.seeds[to]) {
			v.near[f.Subject], v.near[to] = true, true
		}
	})
}

// show picks the nodes that are shown and reads the edges between them.
func (v *graphView) show(limit int) (*Graph, error) {
	ranked := v.ranked()
	g := &Graph{TotalNodes: len(ranked)}
	shown := make(map[string]bool, limit)
	for _, n := range ranked[:min(len(ranked), limit)] {
		g.Nodes = append(g.Nodes, *n)
		shown[n.ID] = true
	}
	err := v.each(func(f *fact.Fact, to string, edge bool) {
		if !edge || v.near != nil && (!v.near[f.Subject] || !v.near[to]) {
			return
		}
		g.TotalEdges++
		if shown[f.Subject] && shown[to] {
			g.Edges = append(g.Edges, bareEdge(f, to))
			if len(g.Edges) >= 2*maxGraphEdges {
				g.Edges = newestEdges(g.Edges)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	g.Edges = newestEdges(g.Edges)
	g.Limited = len(g.Nodes) < g.TotalNodes || len(g.Edges) < g.TotalEdges
	return g, nil
}

// bareEdge keeps of an edge's fact what the view tells.
func bareEdge(f *fact.Fact, to string) Edge {
	return Edge{From: f.Subject, To: to, Fact: fact.Fact{
		ID: f.ID, Tenant: f.Tenant, Subject: f.Subject, Predicate: f.Predicate, Confidence: f.Confidence, Tx: f.Tx, Batch: f.Batch,
	}}
}

// newestEdges sorts edges and cuts those off that an answer has no room for.
func newestEdges(edges []Edge) []Edge {
	slices.SortFunc(edges, compareEdges)
	return edges[:min(len(edges), maxGraphEdges)]
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
		return cmp.Or(v.seedFirst(a, b), cmp.Compare(b.Degree+b.FactCount, a.Degree+a.FactCount), strings.Compare(a.ID, b.ID))
	})
	return list
}

func (v *graphView) seedFirst(a, b *Node) int {
	switch {
	case v.seeds[a.ID] == v.seeds[b.ID]:
		return 0
	case v.seeds[a.ID]:
		return -1
	}
	return 1
}
