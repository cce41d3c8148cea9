package memory

import "context"

// Bounds of a search for paths.
const (
	DefaultPathDepth = 6
	DefaultPaths     = 10
	MaxPaths         = 100
)

// PathQuery asks for the shortest paths between two nodes. Make its Read with
// NewRead.
type PathQuery struct {
	Read
	From, To   string
	Depth      int // the longest path looked for, in edges
	Direction  Direction
	Predicates []string
	Limit      int // paths; 0 = DefaultPaths
}

// Paths are the shortest paths between two nodes: all of one length, each a
// chain of edges, in a fixed order. Limited tells that there are more, or that
// the bounds on nodes and edges ended the search.
type Paths struct {
	From, To string
	Paths    [][]Edge
	Limited  bool
}

// Paths finds the shortest paths in the graph that holds at the point in both
// times that is read.
func (s *Service) Paths(ctx context.Context, c Caller, q *PathQuery, trace *Trace) (*Paths, Meta, error) {
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	g := newGrapher(r, q.Predicates)
	f := &finder{g: g, q: q, steps: map[string][]step{}, distance: map[string]int{q.From: 0}}
	found, err := f.search(r.ctx)
	if err != nil {
		return nil, r.meta, err
	}
	p := &Paths{From: q.From, To: q.To, Limited: f.limited || g.cut}
	if found {
		f.collect(p, q.To, nil)
	} else {
		for _, name := range []string{q.From, q.To} {
			if err := g.warnUnknown(r, name); err != nil {
				return nil, r.meta, err
			}
		}
	}
	trace.Step("execute", "breadth first")
	trace.Name("path", "pick by_subject and by_object index → breadth-first search")
	trace.Int("candidates_scanned", g.scanned)
	trace.Int("nodes_seen", len(f.distance))
	trace.Int("results", len(p.Paths))
	trace.Bool("limit_hit", p.Limited)
	return p, r.meta, nil
}

// finder searches breadth first and remembers by which edges each node was
// reached at its shortest distance.
type finder struct {
	g        *grapher
	q        *PathQuery
	distance map[string]int
	steps    map[string][]step
	limited  bool
}

// step is one way to a node: from a nearer one, by an edge.
type step struct {
	from string
	edge Edge
}

// search fills in the steps up to the level on which the goal lies.
func (f *finder) search(ctx context.Context) (found bool, err error) {
	if f.q.From == f.q.To {
		return true, nil
	}
	level := []string{f.q.From}
	edges := 0
	for depth := 1; depth <= f.q.Depth && len(level) > 0; depth++ {
		var next []string
		for _, node := range level {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			around, err := f.g.around(ctx, node, f.q.Direction)
			if err != nil {
				return false, err
			}
			if edges += len(around); edges > maxGraphEdges || len(f.distance) > maxGraphNodes {
				f.limited = true
				return f.distance[f.q.To] > 0, nil
			}
			next = append(next, f.take(node, depth, around)...)
		}
		if f.distance[f.q.To] > 0 {
			return true, nil
		}
		level = next
	}
	return false, nil
}

// take notes the edges of a node, and returns the nodes that are new.
func (f *finder) take(node string, depth int, around []Edge) []string {
	var fresh []string
	for _, e := range around {
		to := e.To
		if to == node {
			to = e.From
		}
		known, seen := f.distance[to]
		if !seen {
			f.distance[to] = depth
			fresh = append(fresh, to)
		} else if known != depth {
			continue // reached before, by a shorter way
		}
		f.steps[to] = append(f.steps[to], step{from: node, edge: e})
	}
	return fresh
}

// collect walks back from a node to the start, and adds every path.
func (f *finder) collect(p *Paths, node string, rest []Edge) {
	limit := f.q.Limit
	if limit == 0 {
		limit = DefaultPaths
	}
	if len(p.Paths) >= limit {
		p.Limited = true
		return
	}
	if node == f.q.From {
		path := make([]Edge, 0, len(rest))
		for i := len(rest) - 1; i >= 0; i-- {
			path = append(path, rest[i])
		}
		p.Paths = append(p.Paths, path)
		return
	}
	for _, s := range f.steps[node] {
		f.collect(p, s.from, append(rest[:len(rest):len(rest)], s.edge))
	}
}

// Length is the number of edges of the paths, or -1 where there is none.
func (p *Paths) Length() int {
	if len(p.Paths) == 0 {
		return -1
	}
	return len(p.Paths[0])
}
