package memory

import (
	"cmp"
	"context"
	"slices"
)

// Bounds of a search for paths.
const (
	DefaultPathDepth = 6
	DefaultPaths     = 10
	MaxPaths         = 100

	maxPathEdges = 50_000 // that are looked at
)

// PathQuery asks for the shortest paths between two nodes. Make its Read with
// NewRead.
type PathQuery struct {
	Read
	From, To   string
	Depth      int // the longest path looked for, in edges, 1 … MaxWalkDepth
	Direction  Direction
	Predicates []string // edges that are followed; empty = any
	Limit      int      // paths, at most MaxPaths; 0 = DefaultPaths
}

// Paths are the shortest paths between two nodes: all of one length, each a
// chain of edges, in a fixed order. Limited tells that there are more, or that
// the bounds on nodes, edges and bytes ended the search.
type Paths struct {
	From, To string
	Paths    [][]Edge
	Limited  bool
}

// Length is the number of edges of each path, or -1 where there is none. A node
// has one path of length 0 to itself.
func (p *Paths) Length() int {
	if len(p.Paths) == 0 {
		return -1
	}
	return len(p.Paths[0])
}

// Paths finds the shortest paths in the graph that holds at the point in both
// times that is read. An end that no fact mentions is a warning.
func (s *Service) Paths(ctx context.Context, c Caller, q *PathQuery, trace *Trace) (*Paths, Meta, error) {
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
	f := &finder{g: g, q: q, ahead: newFrontier(q.From, q.Direction), back: newFrontier(q.To, q.Direction.reverse())}
	met, err := f.search(r.ctx)
	if err != nil {
		return nil, r.meta, err
	}
	p := f.collect(met)
	if p.Length() <= 0 {
		if err := r.warnEnds(q); err != nil {
			return nil, r.meta, err
		}
	}
	r.meta.Backfilled = backfilled(distinctEdges(p.Paths))
	trace.Step("execute", "breadth first from both ends")
	trace.Name("path", "pick "+picks(Both)+" → breadth-first search from both ends")
	trace.Text("input.direction", q.Direction.String())
	trace.Int("candidates_scanned", g.scanned)
	trace.Int("nodes_seen", len(f.ahead.distance)+len(f.back.distance))
	trace.Int("results", len(p.Paths))
	trace.Bool("limit_hit", p.Limited)
	return p, r.meta, nil
}

func (r *reading) warnEnds(q *PathQuery) error {
	if err := r.warnUnknown(q.From); err != nil || q.To == q.From {
		return err
	}
	return r.warnUnknown(q.To)
}

// distinctEdges lists each edge of some paths once.
func distinctEdges(paths [][]Edge) []Edge {
	list := slices.Concat(paths...)
	slices.SortFunc(list, compareEdges)
	return slices.CompactFunc(list, func(a, b Edge) bool { return a.Fact.ID == b.Fact.ID })
}

// frontier is the search from one end: it goes on by whole levels, and
// remembers by which edges each node was reached at its shortest distance.
type frontier struct {
	direction Direction
	depth     int
	level     []string // the nodes at that depth
	distance  map[string]int
	steps     map[string][]step
}

// step is one way to a node: from a nearer one, by an edge.
type step struct {
	from string
	edge Edge
}

func newFrontier(end string, d Direction) *frontier {
	return &frontier{direction: d, level: []string{end}, distance: map[string]int{end: 0}, steps: map[string][]step{}}
}

// take notes an edge of a node at the depth before.
func (s *frontier) take(node string, e *Edge) {
	to := e.To
	if to == node {
		to = e.From
	}
	known, seen := s.distance[to]
	if !seen {
		s.distance[to] = s.depth
		s.level = append(s.level, to)
	} else if known != s.depth {
		return // reached before, by a shorter way
	}
	s.steps[to] = append(s.steps[to], step{from: node, edge: *e})
}

// chains returns the ways from a node back to the end, at most so many.
func (s *frontier) chains(node string, most int) [][]Edge {
	if s.distance[node] == 0 {
		return [][]Edge{nil}
	}
	var all [][]Edge
	for _, st := range s.steps[node] {
		for _, rest := range s.chains(st.from, most-len(all)) {
			all = append(all, append([]Edge{st.edge}, rest...))
		}
		if len(all) >= most {
			break
		}
	}
	return all
}

// finder searches from both ends until the two frontiers meet: with ends of
// many edges that is far less to look at than from one end alone.
type finder struct {
	g           *grapher
	q           *PathQuery
	ahead, back *frontier
	edges       int
	limited     bool
}

// search returns the nodes in which the shortest paths meet: each of those paths
// goes through just one of them.
func (f *finder) search(ctx context.Context) ([]string, error) {
	if f.q.From == f.q.To {
		return []string{f.q.From}, nil
	}
	for f.ahead.depth+f.back.depth < f.q.Depth && !f.limited {
		side, other := f.ahead, f.back
		// Of two levels of one size that which is nearer to its end: two ends
		// beside one hub meet in it, and need not look around it.
		if cmp.Or(cmp.Compare(len(other.level), len(side.level)), cmp.Compare(other.depth, side.depth)) < 0 {
			side, other = other, side
		}
		if len(side.level) == 0 {
			return nil, nil
		}
		if err := f.expand(ctx, side); err != nil {
			return nil, err
		}
		var met []string
		for _, node := range side.level {
			if _, there := other.distance[node]; there {
				met = append(met, node)
			}
		}
		if len(met) > 0 {
			return met, nil
		}
	}
	return nil, nil
}

// expand goes one level on.
func (f *finder) expand(ctx context.Context, s *frontier) error {
	level := s.level
	s.level = nil
	s.depth++
	for _, node := range level {
		if err := ctx.Err(); err != nil {
			return err
		}
		edges, err := f.g.around(ctx, node, s.direction)
		if err != nil {
			return err
		}
		for i := range edges {
			if f.edges++; f.edges > maxPathEdges || !f.g.keep(&edges[i]) {
				f.limited = true
				return nil
			}
			s.take(node, &edges[i])
		}
	}
	return nil
}

// collect puts the paths together from their two halves.
func (f *finder) collect(met []string) *Paths {
	limit := f.q.Limit
	if limit == 0 {
		limit = DefaultPaths
	}
	p := &Paths{From: f.q.From, To: f.q.To}
	for _, node := range met {
		before, after := f.ahead.chains(node, limit+1), f.back.chains(node, limit+1)
		for _, head := range before {
			slices.Reverse(head)
			for _, tail := range after {
				if len(p.Paths) == limit {
					p.Limited = true
					return p
				}
				p.Paths = append(p.Paths, slices.Concat(head, tail))
			}
		}
	}
	p.Limited = f.limited || f.g.cut
	return p
}
