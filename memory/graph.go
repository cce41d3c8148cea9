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

// maxKeptLinks is how many edges a look at the graph keeps in mind, in some 70
// bytes each. Where there are more, they are read again each time that they are
// needed.
const maxKeptLinks = 1 << 20

// Graph looks at every fact that holds, once; in a graph of very many edges twice
// or, with Q, three times. A few such looks at a time are enough.
func (s *Service) Graph(ctx context.Context, c Caller, q *GraphQuery, trace *Trace) (*Graph, Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	leave, err := s.whole.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	v := &graphView{g: newGrapher(r, nil), r: r, needle: strings.ToLower(normalise(q.Q)), places: map[string]int32{}, room: s.links}
	graph, err := v.look(q.size())
	if err != nil {
		return nil, r.meta, err
	}
	if graph.TotalNodes == 0 {
		if err := r.warnIfEmpty(); err != nil {
			return nil, r.meta, err
		}
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
	places map[string]int32
	nodes  []placed
	links  []link
	room   int // for links
	names  names
}

// placed is a node with its part in a graph that is looked at around something.
type placed struct {
	Node
	seed bool // it matches
	near bool // it matches, or is the neighbour of one that does
	show bool
}

// link is an edge with what the view tells of its fact.
type link struct {
	from, to          int32
	predicate, tenant int32
	id                fact.ID
	confidence        float64
	tx, batch         uint64
}

// names keeps each of a few texts once.
type names struct {
	places map[string]int32
	list   []string
}

func (n *names) place(name string) int32 {
	at, there := n.places[name]
	if !there {
		if n.places == nil {
			n.places = make(map[string]int32)
		}
		at = int32(len(n.list))
		n.places[name] = at
		n.list = append(n.list, name)
	}
	return at
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

// eachLink visits every edge, from memory or by reading it again.
func (v *graphView) eachLink(visit func(*link)) error {
	if v.room >= 0 {
		for i := range v.links {
			visit(&v.links[i])
		}
		return nil
	}
	return v.each(func(f *fact.Fact, to string, edge bool) {
		if edge {
			l := v.link(f, to)
			visit(&l)
		}
	})
}

func (v *graphView) link(f *fact.Fact, to string) link {
	return link{
		from: v.place(f.Subject), to: v.place(to), predicate: v.names.place(f.Predicate), tenant: v.names.place(f.Tenant),
		id: f.ID, confidence: f.Confidence, tx: f.Tx, batch: f.Batch,
	}
}

func (v *graphView) place(id string) int32 {
	at, there := v.places[id]
	if !there {
		at = int32(len(v.nodes))
		v.places[id] = at
		v.nodes = append(v.nodes, placed{Node: Node{ID: id}})
	}
	return at
}

// count counts the facts and edges of every node, and notes the seeds.
func (v *graphView) count() error {
	return v.each(func(f *fact.Fact, to string, edge bool) {
		from := v.place(f.Subject)
		v.nodes[from].FactCount++
		if edge {
			l := v.link(f, to)
			v.nodes[l.from].Degree++
			if l.to != l.from {
				v.nodes[l.to].Degree++
			}
			v.keep(l)
		}
		if v.needle != "" {
			v.seed(f, to, edge)
		}
	})
}

// keep remembers an edge, as long as there is room for all of them.
func (v *graphView) keep(l link) {
	if v.room--; v.room < 0 {
		v.links = nil
		v.room = -1
		return
	}
	v.links = append(v.links, l)
}

// seed notes what matches. An edge's object matches for itself: whoever leads to
// it is its neighbour already.
func (v *graphView) seed(f *fact.Fact, to string, edge bool) {
	if v.matches(f.Subject) || v.matches(f.Predicate) || !edge && v.matches(value(f.Object)) {
		v.nodes[v.place(f.Subject)].seed = true
	}
	if edge && v.matches(to) {
		v.nodes[v.place(to)].seed = true
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
	for i := range v.nodes {
		v.nodes[i].near = v.nodes[i].seed
	}
	return v.eachLink(func(l *link) {
		if v.nodes[l.from].seed || v.nodes[l.to].seed {
			v.nodes[l.from].near, v.nodes[l.to].near = true, true
		}
	})
}

// within reports whether a node is part of what is looked at.
func (v *graphView) within(at int32) bool { return v.needle == "" || v.nodes[at].near }

// show picks the nodes that are shown and gathers the edges between them.
func (v *graphView) show(limit int) (*Graph, error) {
	ranked := v.ranked()
	g := &Graph{TotalNodes: len(ranked)}
	for _, at := range ranked[:min(len(ranked), limit)] {
		g.Nodes = append(g.Nodes, v.nodes[at].Node)
		v.nodes[at].show = true
	}
	err := v.eachLink(func(l *link) {
		if !v.within(l.from) || !v.within(l.to) {
			return
		}
		g.TotalEdges++
		if v.nodes[l.from].show && v.nodes[l.to].show {
			g.Edges = append(g.Edges, v.edge(l))
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

// edge tells of a link's fact what the view shows.
func (v *graphView) edge(l *link) Edge {
	from := v.nodes[l.from].ID
	return Edge{From: from, To: v.nodes[l.to].ID, Fact: fact.Fact{
		ID: l.id, Tenant: v.names.list[l.tenant], Subject: from, Predicate: v.names.list[l.predicate], Confidence: l.confidence, Tx: l.tx, Batch: l.batch,
	}}
}

// newestEdges sorts edges and cuts those off that an answer has no room for.
func newestEdges(edges []Edge) []Edge {
	slices.SortFunc(edges, compareEdges)
	return edges[:min(len(edges), maxGraphEdges)]
}

// ranked returns the places of the nodes, seeds first, then by edges and facts,
// then by name.
func (v *graphView) ranked() []int32 {
	var list []int32
	for at := range v.nodes {
		if v.within(int32(at)) {
			list = append(list, int32(at))
		}
	}
	slices.SortFunc(list, func(x, y int32) int {
		a, b := &v.nodes[x], &v.nodes[y]
		return cmp.Or(seedFirst(a, b), cmp.Compare(b.Degree+b.FactCount, a.Degree+a.FactCount), strings.Compare(a.ID, b.ID))
	})
	return list
}

func seedFirst(a, b *placed) int {
	switch {
	case a.seed == b.seed:
		return 0
	case a.seed:
		return -1
	}
	return 1
}
