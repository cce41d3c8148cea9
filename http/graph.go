package http

import (
	"net/http"
	"strconv"
	"unicode/utf8"

	"abagraph/fact"
	"abagraph/memory"
)

// graph is GET /api/graph.
func (s *Server) graph(c *call) error {
	q := &memory.GraphQuery{Read: c.travel(), Q: c.focus(), Limit: c.query.limit()}
	if err := c.query.done(); err != nil {
		return err
	}
	g, meta, err := s.config.Memory.Graph(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	s.config.Logger.Info("abagraph.graph.view", "nodes_total", g.TotalNodes, "nodes_returned", len(g.Nodes),
		"edges_returned", len(g.Edges), "limit", q.Limit, "q", masked(q.Q))
	c.warn(&meta)
	b := append(c.begin(), `{"nodes":[`...)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		b = appendEntity(append(comma(b, i), '{'), n.ID)
		b = strconv.AppendInt(append(b, `,"degree":`...), int64(n.Degree), 10)
		b = strconv.AppendInt(append(b, `,"fact_count":`...), int64(n.FactCount), 10)
		b = append(b, '}')
	}
	b = append(b, `],"edges":[`...)
	for i := range g.Edges {
		b = append(appendEdge(comma(b, i), &g.Edges[i]), '}')
	}
	b = strconv.AppendInt(append(b, `],"total_nodes":`...), int64(g.TotalNodes), 10)
	b = strconv.AppendInt(append(b, `,"total_edges":`...), int64(g.TotalEdges), 10)
	b = strconv.AppendBool(append(b, `,"limited":`...), g.Limited)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// focus returns what the graph is looked at around; "" = nothing in particular.
func (c *call) focus() string {
	text, _ := c.query.text("q")
	if len(text) > memory.MaxFocusBytes {
		c.query.fail(fact.Invalid("q", "is longer than "+strconv.Itoa(memory.MaxFocusBytes)+" bytes"))
		return ""
	}
	return text
}

// masked tells of a caller's words only how many characters they have: lines
// outlive what is purged, and go where the facts may not.
func masked(text string) string {
	if text == "" {
		return ""
	}
	return "(" + strconv.Itoa(utf8.RuneCountInString(text)) + " characters)"
}
