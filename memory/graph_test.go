package memory_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory"

	"golang.org/x/text/unicode/norm"
)

// plainGraph is the graph of one point in both times, made by looking at every
// fact that the model answers.
type plainGraph struct {
	facts []fact.Fact
	edges []memory.Edge
}

func (w *world) plainGraph(c memory.Caller, r memory.Read) *plainGraph {
	at := w.at(r)
	g := &plainGraph{facts: w.Facts(&fact.Query{Scope: c.Scope(r.Branch), At: at, Limit: 1 << 30})}
	known := at
	known.AsOf = fact.NoInstant
	for _, f := range g.facts {
		if f.Object.Kind != fact.Text {
			continue
		}
		to := norm.NFC.String(f.Object.Text)
		_, _, ref := fact.SplitEntity(to)
		subject := w.Facts(&fact.Query{
			Scope: memory.Caller{Tenant: f.Tenant}.Scope(r.Branch), At: known, Subject: to,
			StatusGiven: true, Statuses: fact.AllStatuses, Limit: 1,
		})
		if to != "" && fact.CheckName("object", to) == nil && (ref || len(subject) > 0) {
			g.edges = append(g.edges, memory.Edge{From: f.Subject, To: to, Fact: f})
		}
	}
	return g
}

// follows returns where an edge leads from a node, if it does.
func follows(e memory.Edge, node string, d memory.Direction, predicates []string) (string, bool) {
	switch {
	case len(predicates) > 0 && !slices.Contains(predicates, e.Fact.Predicate):
	case d != memory.In && e.From == node:
		return e.To, true
	case d != memory.Out && e.To == node:
		return e.From, true
	}
	return "", false
}

// distances is Bellman and Ford's: every edge, over and over.
func (g *plainGraph) distances(start string, d memory.Direction, predicates []string) map[string]int {
	distance := map[string]int{start: 0}
	for range len(g.edges) + 1 {
		for _, e := range g.edges {
			for _, node := range []string{e.From, e.To} {
				to, ok := follows(e, node, d, predicates)
				near, reached := distance[node]
				far, seen := distance[to]
				if ok && reached && (!seen || near+1 < far) {
					distance[to] = near + 1
				}
			}
		}
	}
	return distance
}

// shortest lists every shortest path as the ids of its edges.
func (g *plainGraph) shortest(q *memory.PathQuery) []string {
	distance := g.distances(q.From, q.Direction, q.Predicates)
	length, reached := distance[q.To]
	if !reached || length > q.Depth {
		return nil
	}
	var all []string
	var extend func(node, path string, steps int)
	extend = func(node, path string, steps int) {
		if node == q.To && steps == length {
			all = append(all, path)
			return
		}
		for _, e := range g.edges {
			if to, ok := follows(e, node, q.Direction, q.Predicates); ok && steps < length && distance[to] == steps+1 {
				extend(to, path+" "+e.Fact.ID.String(), steps+1)
			}
		}
	}
	extend(q.From, "", 0)
	slices.Sort(all)
	return all
}

func chains(paths [][]memory.Edge) []string {
	var all []string
	for _, p := range paths {
		chain := ""
		for _, e := range p {
			chain += " " + e.Fact.ID.String()
		}
		all = append(all, chain)
	}
	return all
}

func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (w *world) predicates() []string {
	switch w.rnd.IntN(4) {
	case 0:
		return []string{pick(w, worldVerbs)}
	case 1:
		return []string{"likes", "works_at", "no_such"}
	}
	return nil
}

// TestGraphAgainstBruteForce: on random histories of two tenants, at random
// instants of both axes, what Walk, Paths and Graph answer is what looking at
// every fact gives.
func TestGraphAgainstBruteForce(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			for range 10 {
				w.live(15)
				for range 6 {
					c, r := w.caller(), w.read()
					g := w.plainGraph(c, r)
					w.checkWalk(g, c, r)
					w.checkPaths(g, c, r)
					w.checkGraph(g, c, r)
				}
			}
		})
	}
}

func (w *world) checkWalk(g *plainGraph, c memory.Caller, r memory.Read) {
	w.Helper()
	q := &memory.WalkQuery{Read: r, Start: pick(w, append([]string{"P:ghost", "plain"}, worldNames...)), Depth: w.rnd.IntN(5),
		Direction: memory.Direction(w.rnd.IntN(3)), Predicates: w.predicates()}
	walk, meta, err := w.service.Walk(w.Context(), c, q, nil)
	if err != nil {
		w.Fatal(err)
	}
	distance := g.distances(q.Start, q.Direction, q.Predicates)
	want := map[string]int{}
	for node, d := range distance {
		if d <= q.Depth {
			want[node] = d
		}
	}
	got := map[string]int{}
	for i, node := range walk.Reached {
		got[node] = distance[node]
		if i > 0 && distance[node] < distance[walk.Reached[i-1]] {
			w.Errorf("%+v: %s is farther than %s, and comes before it", q, walk.Reached[i-1], node)
		}
	}
	if walk.Start != q.Start || len(got) != len(walk.Reached) || !maps.Equal(got, want) || walk.Limited {
		w.Fatalf("%+v: reached %v, want %v", q, walk.Reached, want)
	}
	var edges []memory.Edge
	for _, e := range g.edges {
		for _, node := range []string{e.From, e.To} {
			if _, ok := follows(e, node, q.Direction, q.Predicates); ok {
				if d, reached := distance[node]; reached && d < q.Depth {
					edges = append(edges, e)
					break
				}
			}
		}
	}
	w.sameEdges(fmt.Sprintf("%+v", q), walk.Edges, edges)
	w.sameBackfill(meta, walk.Edges)
	if again, _, err := w.service.Walk(w.Context(), c, q, nil); err != nil || shown(again) != shown(walk) {
		w.Errorf("%+v: another answer the second time (%v)", q, err)
	}
}

// sameEdges compares edges with their facts, in the order of ids.
func (w *world) sameEdges(what string, got, want []memory.Edge) {
	w.Helper()
	byID := func(list []memory.Edge) []memory.Edge {
		return slices.SortedFunc(slices.Values(list), func(a, b memory.Edge) int { return slices.Compare(a.Fact.ID[:], b.Fact.ID[:]) })
	}
	if g, want := shown(byID(got)), shown(byID(want)); g != want {
		w.Fatalf("%s: edges\n%s\nwant\n%s", what, g, want)
	}
}

func (w *world) sameBackfill(meta memory.Meta, edges []memory.Edge) {
	w.Helper()
	n := 0
	for _, e := range edges {
		if e.Fact.DeclaredKnownAt.Given() {
			n++
		}
	}
	if meta.Declared() != n {
		w.Errorf("%d rows are told as declared, want %d", meta.Declared(), n)
	}
}

func (w *world) checkPaths(g *plainGraph, c memory.Caller, r memory.Read) {
	w.Helper()
	q := &memory.PathQuery{Read: r, From: pick(w, worldNames), To: pick(w, append([]string{"P:ghost"}, worldNames...)), Depth: 1 + w.rnd.IntN(6),
		Direction: memory.Direction(w.rnd.IntN(3)), Predicates: w.predicates(), Limit: pick(w, []int{0, 1, 3, memory.MaxPaths})}
	paths, _, err := w.service.Paths(w.Context(), c, q, nil)
	if err != nil {
		w.Fatal(err)
	}
	want, got := g.shortest(q), slices.Sorted(slices.Values(chains(paths.Paths)))
	limit := cmp.Or(q.Limit, memory.DefaultPaths)
	if len(want) <= limit {
		if !slices.Equal(got, want) || paths.Limited {
			w.Fatalf("%+v: limited %v\n%q\nwant\n%q", q, paths.Limited, got, want)
		}
	} else if len(got) != limit || !paths.Limited || len(slices.Compact(slices.Clone(got))) != limit ||
		slices.ContainsFunc(got, func(p string) bool { return !slices.Contains(want, p) }) {
		w.Fatalf("%+v: limited %v\n%q\nof\n%q", q, paths.Limited, got, want)
	}
	if len(want) == 0 && paths.Length() != -1 || len(want) > 0 && paths.Length() != strings.Count(want[0], " ") {
		w.Errorf("%+v: length %d", q, paths.Length())
	}
	if again, _, err := w.service.Paths(w.Context(), c, q, nil); err != nil || shown(again) != shown(paths) {
		w.Errorf("%+v: another answer the second time (%v)", q, err)
	}
}

func (w *world) checkGraph(g *plainGraph, c memory.Caller, r memory.Read) {
	w.Helper()
	q := &memory.GraphQuery{Read: r, Q: pick(w, []string{"", "", "org:", "BOB", "likes", "4", "zo\u00cb", "plain", "nothing has this"}), Limit: pick(w, []int{0, 0, 1, 3, 80})}
	graph, meta, err := w.service.Graph(w.Context(), c, q, nil)
	if err != nil {
		w.Fatal(err)
	}
	nodes, seeds := g.nodes(q.Q)
	if q.Q != "" {
		nodes = g.near(nodes, seeds)
	}
	list := slices.Collect(maps.Values(nodes))
	slices.SortFunc(list, func(a, b memory.Node) int {
		rank := func(n memory.Node) int {
			if seeds[n.ID] {
				return 1_000_000 + n.Degree + n.FactCount
			}
			return n.Degree + n.FactCount
		}
		return cmp.Or(cmp.Compare(rank(b), rank(a)), strings.Compare(a.ID, b.ID))
	})
	limit := cmp.Or(q.Limit, memory.DefaultGraphNodes)
	if got, want := shown(append([]memory.Node{}, graph.Nodes...)), shown(append([]memory.Node{}, list[:min(limit, len(list))]...)); got != want {
		w.Fatalf("%+v: nodes\n%s\nwant\n%s", q, got, want)
	}
	var edges []memory.Edge
	total := 0
	for _, e := range g.edges {
		_, from := nodes[e.From]
		_, to := nodes[e.To]
		if !from || !to {
			continue
		}
		total++
		at := func(id string) bool {
			return slices.ContainsFunc(graph.Nodes, func(n memory.Node) bool { return n.ID == id })
		}
		if at(e.From) && at(e.To) {
			edges = append(edges, e)
		}
	}
	ids := func(list []memory.Edge) string {
		var words []string
		for _, e := range list {
			words = append(words, fmt.Sprint(e.Fact.ID, e.From, e.To, e.Fact.Predicate, e.Fact.Confidence, e.Fact.Tx))
		}
		slices.Sort(words)
		return strings.Join(words, "\n")
	}
	if ids(graph.Edges) != ids(edges) {
		w.Fatalf("%+v: edges\n%s\nwant\n%s", q, ids(graph.Edges), ids(edges))
	}
	cut := len(list) > limit
	if graph.TotalNodes != len(list) || graph.TotalEdges != total || graph.Limited != (cut || len(edges) < total) {
		w.Errorf("%+v: %d nodes and %d edges in all, limited %v; want %d and %d", q, graph.TotalNodes, graph.TotalEdges, graph.Limited, len(list), total)
	}
	w.sameBackfill(meta, edges)
	w.service.KeepLinks(w.rnd.IntN(8)) // the next look keeps few edges in mind, or all
	if again, _, err := w.service.Graph(w.Context(), c, q, nil); err != nil || shown(again) != shown(graph) {
		w.Errorf("%+v: another answer the second time (%v)", q, err)
	}
}

// nodes counts what every node has, and tells which match.
func (g *plainGraph) nodes(needle string) (map[string]memory.Node, map[string]bool) {
	nodes, seeds := map[string]memory.Node{}, map[string]bool{}
	has := func(text string) bool {
		return needle != "" && strings.Contains(strings.ToLower(norm.NFC.String(text)), strings.ToLower(needle))
	}
	count := func(id string, degree, facts int) {
		n := nodes[id]
		nodes[id] = memory.Node{ID: id, Degree: n.Degree + degree, FactCount: n.FactCount + facts}
		seeds[id] = seeds[id] || has(id)
	}
	edge := map[fact.ID]bool{}
	for _, e := range g.edges {
		edge[e.Fact.ID] = true
		count(e.From, 1, 0)
		if e.To != e.From {
			count(e.To, 1, 0)
		}
	}
	for _, f := range g.facts {
		count(f.Subject, 0, 1)
		attribute := !edge[f.ID] && (f.Object.Kind == fact.Text || f.Object.Kind == fact.Number)
		seeds[f.Subject] = seeds[f.Subject] || has(f.Predicate) || attribute && has(f.Object.Text)
	}
	return nodes, seeds
}

// near keeps the seeds and their neighbours.
func (g *plainGraph) near(nodes map[string]memory.Node, seeds map[string]bool) map[string]memory.Node {
	kept := map[string]memory.Node{}
	for id, n := range nodes {
		beside := slices.ContainsFunc(g.edges, func(e memory.Edge) bool {
			return e.From == id && seeds[e.To] || e.To == id && seeds[e.From]
		})
		if seeds[id] || beside {
			kept[id] = n
		}
	}
	return kept
}
