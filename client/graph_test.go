package client_test

import (
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

func TestGraphOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	source := "hr"
	for _, a := range []client.Assert{
		{Subject: "Person:a", Predicate: "works_at", Object: fact.TextObject("Org:x"), Source: &source},
		{Subject: "Person:b", Predicate: "works_at", Object: fact.TextObject("Org:x")},
		{Subject: "Person:b", Predicate: "age", Object: fact.TextObject("forty")},
	} {
		if _, err := c.Assert(ctx, a, client.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	depth := 1
	walk, err := c.Walk(ctx, client.WalkQuery{Start: "Org:x", Depth: &depth, Direction: "in", EdgeTypes: "works_at"})
	if err != nil || len(walk.Reached) != 3 || len(walk.Edges) != 2 || walk.Limited || walk.Tx != 3 {
		t.Fatalf("%+v, %v", walk, err)
	}
	if e := walk.Edges[1]; e.From != "Person:a" || e.To != "Org:x" || *e.Source != source || e.Fact.ID != e.ID || e.Fact.Raw == nil {
		t.Errorf("an edge: %+v", e)
	}
	graph, err := c.Graph(ctx, client.GraphQuery{Q: "person:b", Limit: 5, Read: client.Read{Tx: "3"}})
	if err != nil || graph.TotalNodes != 2 || graph.TotalEdges != 1 || graph.Nodes[0].ID != "Person:b" || *graph.Nodes[0].Kind != "Person" ||
		graph.Nodes[0].Degree != 1 || graph.Nodes[0].FactCount != 2 || graph.Edges[0].Fact != nil {
		t.Errorf("%+v, %v", graph, err)
	}
	paths, err := c.Paths(ctx, client.PathQuery{From: "Person:a", To: "Person:b", Depth: 2, Limit: 1})
	if err != nil || *paths.Length != 2 || len(paths.Paths) != 1 || paths.Paths[0][1].From != "Person:b" {
		t.Errorf("%+v, %v", paths, err)
	}
	if none, err := c.Paths(ctx, client.PathQuery{From: "Person:a", To: "Person:c", Direction: "out"}); err != nil || none.Length != nil || len(none.Hints) != 1 {
		t.Errorf("%+v, %v", none, err)
	}
	if _, err := c.Walk(ctx, client.WalkQuery{}); client.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("no start: %v", err)
	}
}
