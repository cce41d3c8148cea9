package memory

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
)

// Bounds of one look at the graph. What they cut is told as limited.
const (
	maxGraphNodes = 10_000
	maxGraphEdges = 10_000
)

// Direction says which way edges are followed: from subject to object, back, or
// either.
type Direction uint8

// The directions.
const (
	Out Direction = iota
	In
	Both
)

var directionNames = [...]string{"out", "in", "both"}

// String returns the word that answers carry.
func (d Direction) String() string { return directionNames[d] }

// ParseDirection reads a direction in any of its spellings (C-50).
func ParseDirection(field, text string) (Direction, error) {
	switch text {
	case "out", "outbound":
		return Out, nil
	case "in", "inbound":
		return In, nil
	case "both":
		return Both, nil
	}
	return 0, fact.Invalid(field, "has no such direction: "+shorten(text)+" (out, in or both)")
}

// Edge is a fact whose object is a node: an entity reference, or the subject of
// a fact (C-5). It always leads from subject to object.
type Edge struct {
	From, To string
	Fact     fact.Fact
}

// grapher looks at the graph that one view shows at one point of both times.
type grapher struct {
	r *reading
	// predicates are those that edges may have; empty = any.
	predicates []string
	// nodes remembers which texts that are no entity references are subjects.
	nodes map[string]bool
	// scanned counts the facts that were looked at.
	scanned int
	// cut is set when a node had more facts than are looked at.
	cut bool
}

func newGrapher(r *reading, predicates []string) *grapher {
	return &grapher{r: r, predicates: predicates, nodes: make(map[string]bool)}
}

// isNode reports whether an object is a node of the graph.
func (g *grapher) isNode(ctx context.Context, o fact.Object) (bool, error) {
	if o.Kind != fact.Text || len(o.Text) > fact.MaxNameBytes {
		return false, nil
	}
	if _, _, ok := fact.SplitEntity(o.Text); ok {
		return true, nil
	}
	if known, seen := g.nodes[o.Text]; seen {
		return known, nil
	}
	is, err := g.r.view.IsSubject(ctx, g.r.scope, o.Text, g.r.at)
	if err != nil {
		return false, fmt.Errorf("look for a node: %w", err)
	}
	if len(g.nodes) < 4*maxGraphNodes {
		g.nodes[o.Text] = is
	}
	return is, nil
}

// around returns the edges of a node, those that lead out of it before those
// that lead to it, each in the order of lists.
func (g *grapher) around(ctx context.Context, node string, d Direction) ([]Edge, error) {
	var edges []Edge
	if d != In {
		out, err := g.query(ctx, fact.Query{Subject: node})
		if err != nil {
			return nil, err
		}
		for i := range out {
			is, err := g.isNode(ctx, out[i].Object)
			if err != nil {
				return nil, err
			}
			if is {
				edges = append(edges, Edge{From: node, To: out[i].Object.Text, Fact: out[i]})
			}
		}
	}
	if d == Out {
		return edges, nil
	}
	in, err := g.query(ctx, fact.Query{Objects: []fact.Object{fact.TextObject(node)}})
	if err != nil || len(in) == 0 {
		return edges, err
	}
	if is, err := g.isNode(ctx, in[0].Object); err != nil || !is {
		return edges, err
	}
	for i := range in {
		if d == Both && in[i].Subject == node {
			continue // a loop was met on the way out
		}
		edges = append(edges, Edge{From: in[i].Subject, To: node, Fact: in[i]})
	}
	return edges, nil
}

// query reads the facts that may be edges.
func (g *grapher) query(ctx context.Context, q fact.Query) ([]fact.Fact, error) {
	q.Scope, q.At, q.Limit = g.r.scope, g.r.at, maxGraphEdges
	if len(g.predicates) == 1 && q.Subject != "" {
		q.Predicate = g.predicates[0]
	}
	page, err := g.r.view.Facts(ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	g.scanned += page.Scan.Scanned
	g.cut = g.cut || page.Scan.LimitHit
	if len(g.predicates) == 0 {
		return page.Facts, nil
	}
	return slices.DeleteFunc(page.Facts, func(f fact.Fact) bool { return !slices.Contains(g.predicates, f.Predicate) }), nil
}
