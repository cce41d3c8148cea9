package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// paths is GET /api/path.
func (s *Server) paths(c *call) error {
	q := &memory.PathQuery{Read: c.travel(), From: c.node("from"), To: c.node("to")}
	q.Depth = c.depth(1, memory.DefaultPathDepth)
	q.Direction = c.direction(memory.Both)
	q.Predicates = c.edgeTypes()
	q.Limit = c.pathLimit()
	if err := c.query.done(); err != nil {
		return err
	}
	p, meta, err := s.config.Memory.Paths(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := append(c.begin(), `{"from":`...)
	b = jsonx.AppendString(b, p.From)
	b = append(b, `,"to":`...)
	b = jsonx.AppendString(b, p.To)
	b = append(b, `,"length":`...)
	if n := p.Length(); n >= 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"paths":[`...)
	for i := range p.Paths {
		b = appendEdges(comma(b, i), p.Paths[i])
	}
	b = append(b, `],"limited":`...)
	b = strconv.AppendBool(b, p.Limited)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// pathLimit returns how many paths are wanted; 0 = the default.
func (c *call) pathLimit() int {
	n, _ := c.query.number("limit")
	if n > memory.MaxPaths {
		c.query.fail(fact.Invalid("limit", "must be from 0 to "+strconv.Itoa(memory.MaxPaths)))
		return 0
	}
	return int(n)
}
