package http

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/check"
)

// factcheck is GET /api/factcheck.
func (s *Server) factcheck(c *call) error {
	q := &memory.FactcheckQuery{Read: c.travel(), Narrow: c.narrow()}
	q.Rules = check.Rules{Kinds: c.kinds(), Coexist: c.predicates("coexist")}
	q.Integrity, _ = c.query.flag("integrity")
	if err := c.query.done(); err != nil {
		return err
	}
	f, meta, err := s.config.Memory.Factcheck(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := append(c.begin(), `{"contradictions":[`...)
	for i := range f.Contradictions {
		b = appendContradiction(comma(b, i), &f.Contradictions[i])
	}
	b = strconv.AppendInt(append(b, `],"count":`...), int64(f.Total), 10)
	b = append(b, `,"counts":{`...)
	for i, n := range f.Counts {
		b = jsonx.AppendString(comma(b, i), check.Kind(i).String())
		b = strconv.AppendInt(append(b, ':'), int64(n), 10)
	}
	b = append(b, '}')
	if q.Integrity {
		b = appendIntegrity(b, f)
	}
	b = c.goesOn(b, f.Next)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

func appendContradiction(b []byte, k *memory.Contradiction) []byte {
	b = append(b, `{"subject":`...)
	b = jsonx.AppendString(b, k.Subject)
	b = append(b, `,"predicate":`...)
	b = jsonx.AppendString(b, k.Predicate)
	b = append(b, `,"kind":`...)
	b = jsonx.AppendString(b, k.Kind.String())
	b = append(b, `,"facts":`...)
	b = jsonx.AppendFacts(b, k.Facts)
	b = strconv.AppendInt(append(b, `,"fact_count":`...), int64(k.Total), 10)
	return append(b, '}')
}

func appendIntegrity(b []byte, f *memory.Factcheck) []byte {
	b = append(b, `,"orphans":[`...)
	for i := range f.Orphans {
		b = appendEntity(append(comma(b, i), '{'), f.Orphans[i].ID)
		b = strconv.AppendInt(append(b, `,"fact_count":`...), int64(f.Orphans[i].FactCount), 10)
		b = append(b, '}')
	}
	b = strconv.AppendInt(append(b, `],"orphan_count":`...), int64(f.OrphanTotal), 10)
	b = append(b, `,"dangling":`...)
	b = appendEdges(b, f.Dangling)
	return strconv.AppendInt(append(b, `,"dangling_count":`...), int64(f.DanglingTotal), 10)
}

// narrow reads what a look at subject after subject is narrowed to.
func (c *call) narrow() memory.Narrow {
	n := memory.Narrow{Limit: c.query.limit()}
	n.Subject, n.Predicate = c.query.name("subject"), c.query.name("predicate")
	n.After, _ = c.query.text("after")
	return n
}

// goesOn appends where a list goes on, and tells it in a header too.
func (c *call) goesOn(b []byte, next string) []byte {
	b = jsonx.AppendBool(append(b, `,"limited":`...), next != "")
	if next != "" {
		c.w.Header()[headerNext] = []string{url.QueryEscape(next)}
		b = jsonx.AppendString(append(b, `,"next":`...), next)
	}
	return b
}

// kinds returns the kinds of contradictions that are wanted; all where none is
// named.
func (c *call) kinds() check.Kinds {
	text, given := c.query.text("kind")
	if !given {
		return check.AllKinds
	}
	set, err := check.ParseKinds("kind", text)
	if err != nil {
		c.query.fail(err)
	}
	return set
}

// predicates returns a comma list of predicates.
func (c *call) predicates(name string) []string {
	text, given := c.query.text(name)
	if !given || text == "" {
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
	return list
}
