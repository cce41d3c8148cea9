package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/memory"
	"abagraph/memory/packet"
)

// getContext is GET /api/context.
func (s *Server) getContext(c *call) error {
	q := memory.NewContextQuery()
	q.Read = c.travel()
	c.contextParams(q)
	if err := c.query.done(); err != nil {
		return err
	}
	return s.sendContext(c, q)
}

// postContext is POST /api/context: the same, with the request in the body.
func (s *Server) postContext(c *call) error {
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	q := memory.NewContextQuery()
	q.Read = c.travel()
	tenant, err := c.input.Context(body, q)
	if err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	if tenant != "" {
		if err := c.bodyTenant(tenant); err != nil {
			return err
		}
	}
	return s.sendContext(c, q)
}

// bodyTenant goes to the tenant that an operator's body names (F-251).
func (c *call) bodyTenant(tenant string) error {
	if named, ok := c.query.text("tenant"); ok && named != tenant {
		return fact.Invalid("tenant", "is another one in the query")
	}
	var err error
	c.caller, err = c.caller.In(tenant)
	return err
}

func (s *Server) sendContext(c *call, q *memory.ContextQuery) error {
	q.Notes = c.input.Warnings()
	p, meta, err := s.config.Memory.Context(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, p.AppendJSON(c.begin(), c.trace != nil))
}

// contextParams reads a packet's request from the query string.
func (c *call) contextParams(q *memory.ContextQuery) {
	_, q.Goal, _ = c.one("goal", "task")
	if text, ok := c.query.text("seeds"); ok {
		list, err := memory.ParseEntities("seeds", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Seeds = list
	}
	q.Project = c.query.name("project")
	if n, ok := c.count("max_facts", packet.MaxFacts); ok {
		q.MaxFacts, q.FactsGiven = n, true
	}
	if n, ok := c.count("max_pages", packet.MaxPages); ok {
		q.MaxPages = n
	}
	if name, text, given := c.one("token_budget", "max_tokens"); given {
		budget, err := memory.ParseBudget(name, text)
		if err != nil {
			c.query.fail(err)
		}
		q.TokenBudget = budget
	}
	if text, ok := c.query.text("cluster_threshold"); ok {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1) {
			c.query.fail(fact.Invalid("cluster_threshold", "must be a number from 0 to 1"))
			n = 0
		}
		q.ClusterThreshold = n
	}
	for _, flag := range [...]struct {
		name string
		to   *bool
	}{{"include_recent", &q.IncludeRecent}, {"include_conflicts", &q.IncludeConflicts}, {"include_retracted", &q.IncludeRetracted}} {
		if value, given := c.query.flag(flag.name); given {
			*flag.to = value
		}
	}
	if text, ok := c.query.text("style"); ok {
		style, err := packet.ParseStyle("style", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Style = style
	}
	q.Role, _ = c.query.text("role")
	if _, ok := c.query.text("compact_model"); ok {
		c.query.fail(fact.Invalid("compact_model", "carries a key, which does not belong into a query string: send it in the body of a POST"))
	}
}

// count returns a parameter that is a whole number from 0 to a ceiling.
func (c *call) count(name string, most uint64) (int, bool) {
	n, ok := c.query.number(name)
	if ok && n > most {
		c.query.fail(fact.Invalid(name, "must be a whole number from 0 to "+strconv.FormatUint(most, 10)))
		return 0, false
	}
	return int(n), ok
}
