package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"abagraph/fact"

	"golang.org/x/text/unicode/norm"
)

// Bounds of one look at the graph. What they cut is told as limited.
const (
	maxGraphNodes = 10_000
	maxGraphEdges = 10_000    // of one answer, and facts that are read of one node
	maxGraphBytes = 128 << 20 // of the facts that are kept
)

// MaxEdgeTypes is how many predicates a walk may be restricted to.
const MaxEdgeTypes = 64

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

// reverse is the way back.
func (d Direction) reverse() Direction { return [...]Direction{In, Out, Both}[d] }

// ParseDirection reads a direction in any of its spellings and any case (C-50).
func ParseDirection(field, text string) (Direction, error) {
	switch strings.ToLower(text) {
	case "out", "outbound":
		return Out, nil
	case "in", "inbound":
		return In, nil
	case "both":
		return Both, nil
	}
	return 0, fact.Invalid(field, "has no such value: "+shorten(text)+" (out, outbound, in, inbound or both)")
}

// Edge is a fact whose object is a node: an entity reference, or the subject of
// a fact of the same tenant (C-5). It always leads from subject to object.
type Edge struct {
	From, To string
	Fact     fact.Fact
}

// compareEdges is the order of lists (C-25).
func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(b.Fact.Tx, a.Fact.Tx), slices.Compare(a.Fact.ID[:], b.Fact.ID[:]))
}

// grapher looks at the graph that one view shows at one point of both times.
type grapher struct {
	r *reading
	// predicates are those that edges may have; empty = any.
	predicates []string
	// bare remembers which names are subjects, and which are not.
	bare map[bareNode]bool
	// noSubject tells without a look into the store that a name is no subject, where
	// that is known; nil = never.
	noSubject func(scope fact.Scope, name string) bool
	// scanned counts the facts that were looked at, bytes those that are kept.
	scanned, bytes int
	// cut is set when a node had more facts than are read of one.
	cut bool
}

type bareNode struct{ tenant, name string }

func newGrapher(r *reading, predicates []string) *grapher {
	return &grapher{r: r, predicates: predicates, bare: make(map[bareNode]bool)}
}

// target returns the node that a fact's object names, as names are compared:
// in NFC. ok is false where it names none, and the fact is no edge.
func (g *grapher) target(ctx context.Context, f *fact.Fact) (node string, ok bool, err error) {
	if f.Object.Kind != fact.Text || len(f.Object.Text) > fact.MaxNameBytes {
		return "", false, nil
	}
	node = normalise(f.Object.Text)
	if fact.CheckName("", node) != nil {
		return "", false, nil
	}
	if _, _, ok := fact.SplitEntity(node); ok {
		return node, true, nil
	}
	ok, err = g.isSubject(ctx, f.Tenant, node)
	return node, ok, err
}

// isSubject reports whether a name is the subject of any fact of a tenant at the
// record time that is read.
func (g *grapher) isSubject(ctx context.Context, tenant, node string) (bool, error) {
	key := bareNode{tenant, node}
	if known, seen := g.bare[key]; seen {
		return known, nil
	}
	scope := fact.Scope{Tenant: tenant, Branch: g.r.scope.Branch}
	if g.noSubject != nil && g.noSubject(scope, node) {
		return false, nil
	}
	ok, err := g.r.view.IsSubject(ctx, scope, node, g.r.at)
	if err != nil {
		return false, fmt.Errorf("look for a node: %w", err)
	}
	if len(g.bare) < 4*maxGraphNodes {
		g.bare[key] = ok
	}
	return ok, nil
}

// around returns the edges of a node, those that lead out of it before those
// that lead to it, each in the order of lists. A loop is both.
func (g *grapher) around(ctx context.Context, node string, d Direction) ([]Edge, error) {
	var edges []Edge
	if d != In {
		facts, err := g.from(ctx, node)
		if err != nil {
			return nil, err
		}
		if edges, err = g.edges(ctx, edges, facts); err != nil {
			return nil, err
		}
	}
	if d == Out {
		return edges, nil
	}
	facts, err := g.to(ctx, node)
	if err != nil {
		return nil, err
	}
	return g.edges(ctx, edges, facts)
}

func (g *grapher) edges(ctx context.Context, list []Edge, facts []fact.Fact) ([]Edge, error) {
	for i := range facts {
		to, ok, err := g.target(ctx, &facts[i])
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, Edge{From: facts[i].Subject, To: to, Fact: facts[i]})
		}
	}
	return list, nil
}

// from reads the facts of a subject that may be edges.
func (g *grapher) from(ctx context.Context, node string) ([]fact.Fact, error) {
	if len(g.predicates) == 0 {
		return g.read(ctx, fact.Query{Subject: node})
	}
	var all []fact.Fact
	for _, p := range g.predicates {
		facts, err := g.read(ctx, fact.Query{Subject: node, Predicate: p})
		if err != nil {
			return nil, err
		}
		all = append(all, facts...)
	}
	slices.SortFunc(all, func(a, b fact.Fact) int { return compareEdges(Edge{Fact: a}, Edge{Fact: b}) })
	return all, nil
}

// to reads the facts that may be edges to a node. Objects are stored as they
// were written, so that both forms of a name are looked for.
func (g *grapher) to(ctx context.Context, node string) ([]fact.Fact, error) {
	q := toNode(node)
	q.Predicates = g.predicates
	return g.read(ctx, q)
}

// toNode selects the facts whose object names a node, in either form.
func toNode(node string) fact.Query {
	q := fact.Query{Objects: []fact.Object{fact.TextObject(node)}}
	if apart := norm.NFD.String(node); apart != node {
		q.Objects = append(q.Objects, fact.TextObject(apart))
	}
	return q
}

// namings are the texts that name a node.
func namings(node string) []fact.Object {
	list := []fact.Object{fact.TextObject(node)}
	if apart := norm.NFD.String(node); apart != node {
		list = append(list, fact.TextObject(apart))
	}
	return list
}

func (g *grapher) read(ctx context.Context, q fact.Query) ([]fact.Fact, error) {
	q.Scope, q.At, q.Limit = g.r.scope, g.r.at, maxGraphEdges
	page, err := g.r.view.Facts(ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	g.scanned += page.Scan.Scanned
	g.cut = g.cut || page.Scan.LimitHit
	return page.Facts, nil
}

// keep counts the bytes of an edge that stays in memory, and tells whether there
// is room for it.
func (g *grapher) keep(e *Edge) bool {
	const overhead = 512
	f := &e.Fact
	g.bytes += overhead + len(f.Subject) + len(f.Predicate) + len(f.Object.Text) + len(f.Properties)
	return g.bytes <= maxGraphBytes
}

// warnUnknown says so where an answer is empty because no fact speaks of a name
// at the time that is read, or there is none at all.
func (r *reading) warnUnknown(name string) error {
	known, err := r.mentions(name)
	if err != nil || known {
		return err
	}
	r.warnOnce("no fact mentions " + shorten(name) + " at the time that is read")
	return r.warnIfEmpty()
}

// warnNothing says why nothing was found of a subject, "" = of any.
func (r *reading) warnNothing(subject string) error {
	if subject == "" {
		return r.warnIfEmpty()
	}
	return r.warnUnknown(subject)
}

// backfilled counts the declared facts among edges by their batch (C-28).
func backfilled(edges []Edge) []fact.BatchCount {
	return countBatches(len(edges), func(i int) uint64 { return edges[i].Fact.Batch })
}

// countBatches counts so many facts by the batch that each is of; 0 = none.
func countBatches(n int, of func(i int) uint64) []fact.BatchCount {
	var counts []fact.BatchCount
	for i := range n {
		batch := of(i)
		if batch == 0 {
			continue
		}
		at, there := slices.BinarySearchFunc(counts, batch, func(c fact.BatchCount, b uint64) int {
			return int(min(max(int64(c.Batch)-int64(b), -1), 1))
		})
		if !there {
			counts = slices.Insert(counts, at, fact.BatchCount{Batch: batch})
		}
		counts[at].Rows++
	}
	return counts
}
