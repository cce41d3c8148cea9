package http

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// walk is GET /api/walk.
func (s *Server) walk(c *call) error {
	q := &memory.WalkQuery{Read: c.travel(), Depth: c.depth(0, memory.DefaultWalkDepth)}
	q.Start = c.node("start", "entity", "subject")
	q.Direction = c.direction(memory.Out)
	q.Predicates = c.edgeTypes()
	if err := c.query.done(); err != nil {
		return err
	}
	w, meta, err := s.config.Memory.Walk(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := append(c.begin(), `{"start":`...)
	b = jsonx.AppendString(b, w.Start)
	b = append(b, `,"reached":`...)
	b = jsonx.AppendStrings(b, w.Reached)
	b = append(b, `,"edges":`...)
	b = appendEdges(b, w.Edges)
	b = append(b, `,"limited":`...)
	b = strconv.AppendBool(b, w.Limited)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendEdges appends edges with all of their facts.
func appendEdges(b []byte, edges []memory.Edge) []byte {
	b = append(b, '[')
	for i := range edges {
		f := &edges[i].Fact
		b = appendEdge(comma(b, i), &edges[i])
		b = append(b, `,"source":`...)
		if f.Source == nil {
			b = append(b, "null"...)
		} else {
			b = jsonx.AppendString(b, *f.Source)
		}
		b = append(b, `,"fact":`...)
		b = append(jsonx.AppendFact(b, f), '}')
	}
	return append(b, ']')
}

// appendEdge appends what every edge tells, without its closing brace.
func appendEdge(b []byte, e *memory.Edge) []byte {
	b = append(b, `{"id":`...)
	b = jsonx.AppendID(b, e.Fact.ID)
	b = append(b, `,"from":`...)
	b = jsonx.AppendString(b, e.From)
	b = append(b, `,"to":`...)
	b = jsonx.AppendString(b, e.To)
	b = append(b, `,"predicate":`...)
	b = jsonx.AppendString(b, e.Fact.Predicate)
	b = append(b, `,"confidence":`...)
	return jsonx.AppendFloat(b, e.Fact.Confidence)
}

// one returns a parameter that has several names, of which one may be given, and
// the name that it has. Nothing given is "", under the first name.
func (c *call) one(names ...string) (name, text string, given bool) {
	name = names[0]
	for _, n := range names {
		t, ok := c.query.text(n)
		if !ok {
			continue
		}
		if given {
			c.query.fail(fact.Invalid(n, "means the same as "+name+": give one of them"))
			continue
		}
		name, text, given = n, t, true
	}
	return name, text, given
}

// node returns an entity that must be named, under one of several names.
func (c *call) node(names ...string) string {
	name, text, given := c.one(names...)
	if !given {
		c.query.fail(fact.Invalid(name, "is required"))
		return ""
	}
	node, err := memory.Name(name, text)
	if err != nil {
		c.query.fail(err)
	}
	return node
}

// depth returns how many edges are followed at most.
func (c *call) depth(least, otherwise int) int {
	text, ok := c.query.text("depth")
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < uint64(least) || n > memory.MaxWalkDepth {
		c.query.fail(fact.Invalid("depth", "must be a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(memory.MaxWalkDepth)))
		return otherwise
	}
	return int(n)
}

// direction returns which way edges are followed (C-50).
func (c *call) direction(otherwise memory.Direction) memory.Direction {
	text, ok := c.query.text("direction")
	if !ok {
		return otherwise
	}
	d, err := memory.ParseDirection("direction", text)
	if err != nil {
		c.query.fail(err)
	}
	return d
}

// edgeTypes returns the predicates that are followed: a comma list, each once.
func (c *call) edgeTypes() []string {
	name, text, given := c.one("edge_types", "predicate")
	if !given {
		return nil
	}
	if strings.Count(text, ",") >= memory.MaxEdgeTypes {
		c.query.fail(fact.Invalid(name, "names more than "+strconv.Itoa(memory.MaxEdgeTypes)+" predicates"))
		return nil
	}
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		predicate, err := memory.Name(name, strings.TrimSpace(part))
		if err != nil {
			c.query.fail(err)
		}
		list = append(list, predicate)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// warn takes over what a read has to say.
func (c *call) warn(m *memory.Meta) {
	for _, w := range m.Warnings {
		c.input.Warn(w)
	}
}
