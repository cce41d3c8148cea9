package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Edge is a fact whose object is an entity: it leads from subject to object.
// Source and Fact are nil in the answer of Graph.
type Edge struct {
	ID         string  `json:"id"`
	From       string  `json:"from"`
	To         string  `json:"to"`
	Predicate  string  `json:"predicate"`
	Confidence float64 `json:"confidence"`
	Source     *string `json:"source"`
	Fact       *Fact   `json:"fact"`
}

// WalkQuery asks for what can be reached from an entity.
type WalkQuery struct {
	Read
	Start     string
	Depth     *int   // edges from the start, 0 … 16; nil = the server's default of 2
	Direction string // out (the default), in or both
	EdgeTypes string // a comma list of predicates; "" = any
}

// Values returns the query parameters.
func (q WalkQuery) Values() url.Values {
	v := q.values()
	v.Set("start", q.Start)
	if q.Depth != nil {
		v.Set("depth", strconv.Itoa(*q.Depth))
	}
	set(v, "direction", q.Direction)
	set(v, "edge_types", q.EdgeTypes)
	return v
}

// WalkAnswer is what was reached, the start first and the nearest before the
// farther. Limited tells that there is more than one answer holds.
type WalkAnswer struct {
	Meta    `json:"-"`
	Start   string   `json:"start"`
	Reached []string `json:"reached"`
	Edges   []Edge   `json:"edges"`
	Limited bool     `json:"limited"`
	// Hints are the warnings of the answer's body: a start that no fact
	// mentions, a time that looks like seconds (C-1).
	Hints []string `json:"warnings"`
}

// Walk follows edges from an entity, breadth first: GET /api/walk.
func (c *Client) Walk(ctx context.Context, q WalkQuery) (*WalkAnswer, error) {
	var answer WalkAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/walk", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// GraphQuery asks for the graph as a whole, or around what Q matches.
type GraphQuery struct {
	Read
	Q     string // part of an entity, a predicate, a text or a number, in any case
	Limit int    // nodes; 0 = the server's default of 1,000; at most 80 with Q
}

// Values returns the query parameters.
func (q GraphQuery) Values() url.Values {
	v := q.values()
	set(v, "q", q.Q)
	setInt(v, "limit", q.Limit)
	return v
}

// Node is an entity in the graph.
type Node struct {
	ID        string  `json:"id"`
	Kind      *string `json:"kind"`
	Name      string  `json:"name"`
	Degree    int     `json:"degree"`     // edges that lead to or from it
	FactCount int     `json:"fact_count"` // facts that hold of which it is the subject
}

// GraphAnswer is the graph that holds: what matches first, then what has most
// edges and facts. The totals count what there is without the cut.
type GraphAnswer struct {
	Meta       `json:"-"`
	Nodes      []Node   `json:"nodes"`
	Edges      []Edge   `json:"edges"`
	TotalNodes int      `json:"total_nodes"`
	TotalEdges int      `json:"total_edges"`
	Limited    bool     `json:"limited"`
	Hints      []string `json:"warnings"`
}

// Graph looks at the whole graph: GET /api/graph.
func (c *Client) Graph(ctx context.Context, q GraphQuery) (*GraphAnswer, error) {
	var answer GraphAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/graph", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// PathQuery asks for the shortest paths between two entities.
type PathQuery struct {
	Read
	From, To  string
	Depth     int    // the longest path looked for, 1 … 16; 0 = the server's default of 6
	Direction string // both (the default), out or in
	EdgeTypes string // a comma list of predicates; "" = any
	Limit     int    // paths; 0 = the server's default of 10, at most 100
}

// Values returns the query parameters.
func (q PathQuery) Values() url.Values {
	v := q.values()
	v.Set("from", q.From)
	v.Set("to", q.To)
	setInt(v, "depth", q.Depth)
	set(v, "direction", q.Direction)
	set(v, "edge_types", q.EdgeTypes)
	setInt(v, "limit", q.Limit)
	return v
}

// PathAnswer holds the shortest paths, each a chain of edges. Length is nil
// where there is none.
type PathAnswer struct {
	Meta    `json:"-"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Length  *int     `json:"length"`
	Paths   [][]Edge `json:"paths"`
	Limited bool     `json:"limited"`
	Hints   []string `json:"warnings"`
}

// Paths finds the shortest paths between two entities: GET /api/path.
func (c *Client) Paths(ctx context.Context, q PathQuery) (*PathAnswer, error) {
	var answer PathAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/path", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}
