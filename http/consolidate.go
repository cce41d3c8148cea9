package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// consolidate is POST /api/consolidate.
func (s *Server) consolidate(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	if err := c.emptyBody(); err != nil {
		return err
	}
	q := &memory.ConsolidateQuery{
		Subject: c.query.name("subject"), Predicate: c.query.name("predicate"), Coexist: c.predicates("coexist"),
	}
	q.DryRun, _ = c.query.flag("dry_run")
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	done, result, err := s.config.Memory.Consolidate(c.r.Context(), c.caller, o, q, c.trace)
	if done != nil {
		c.meta(&done.Meta)
	}
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	c.warn(&done.Meta)
	if done.Overtaken > 0 {
		c.input.Warn(strconv.Itoa(done.Overtaken) + " groups of copies were left alone, because others wrote beside them meanwhile: consolidate again")
	}
	if done.Limited {
		c.input.Warn("there are more copies than one transaction may end: consolidate again")
	}
	b := strconv.AppendInt(append(c.begin(), `{"collapsed":`...), int64(len(done.Collapsed)), 10)
	b = append(b, `,"superseded":`...)
	b = jsonx.AppendIDs(b, done.Collapsed)
	b = strconv.AppendInt(append(b, `,"conflicts":`...), int64(done.Conflicts), 10)
	b = jsonx.AppendBool(append(b, `,"dry_run":`...), q.DryRun)
	if q.DryRun {
		b = appendCopies(b, done)
	}
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendCopies appends what would be collapsed: which fact stays, and which go.
func appendCopies(b []byte, done *memory.Consolidated) []byte {
	b = append(b, `,"duplicates":[`...)
	for i, same := range done.Copies {
		f := &same[0]
		b = append(comma(b, i), `{"subject":`...)
		b = jsonx.AppendString(b, f.Subject)
		b = append(b, `,"predicate":`...)
		b = jsonx.AppendString(b, f.Predicate)
		b = append(b, `,"object":`...)
		b = jsonx.AppendObject(b, f.Object)
		b = append(b, `,"kept":`...)
		b = jsonx.AppendID(b, f.ID)
		b = append(b, `,"collapsed":`...)
		b = append(appendIDsOf(b, same[1:]), '}')
	}
	return append(b, ']')
}

// emptyBody accepts a body that says nothing: none, or an empty object, which
// clients send with every POST.
func (c *call) emptyBody() error {
	if c.r.ContentLength == 0 || c.r.Body == nil {
		return nil
	}
	if err := c.readBody(); err != nil || len(c.body) == 0 {
		return err
	}
	v, err := jsonx.Parse(c.body)
	if err != nil {
		return err
	}
	return jsonx.Open(v, "").Done()
}
