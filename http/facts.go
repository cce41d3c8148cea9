package http

import (
	"errors"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// listFacts is GET /api/facts.
func (s *Server) listFacts(c *call) error {
	q, err := c.factsQuery()
	if err != nil {
		return err
	}
	page, meta, err := s.config.Memory.Facts(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	if page.Scan.Heavy {
		c.input.Warn("the list ends early, because an answer holds at most " + strconv.Itoa(fact.MaxAnswerBytes>>20) + " MiB of facts: page with tx_gt")
	}
	c.warnHeader()
	return c.finish(http.StatusOK, jsonx.AppendFacts(c.begin(), page.Facts))
}

// factsQuery reads the parameters of a list of facts.
func (c *call) factsQuery() (*memory.FactsQuery, error) {
	q := &memory.FactsQuery{Read: c.travel()}
	q.Subject = c.query.name("subject")
	q.Predicate = c.query.name("predicate")
	q.Objects = c.query.object("object")
	q.Limit = c.query.limit()
	if text, ok := c.query.text("status"); ok {
		set, err := fact.ParseStatusSet("status", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Statuses, q.StatusGiven = set, true
	}
	q.IncludeRetracted, _ = c.query.flag("include_retracted")
	if text, ok := c.query.text("tx_gt"); ok {
		cursor, err := c.cursor("tx_gt", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Cursor = cursor
	}
	return q, c.query.done()
}

// getFact is GET /api/facts/:id.
func (s *Server) getFact(c *call) error {
	read := c.past()
	if err := c.query.done(); err != nil {
		return err
	}
	st, meta, err := s.config.Memory.Fact(c.r.Context(), c.caller, read, c.param("id"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warnCut("pieces", st.Cut, len(st.Pieces))
	b := append(jsonx.AppendFactFields(c.begin(), &st.Fact), `,"pieces":`...)
	b = jsonx.AppendFacts(b, st.Pieces)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// factHistory is GET /api/facts/:id/history.
func (s *Server) factHistory(c *call) error {
	read := c.read()
	limit := c.query.limit()
	if err := c.query.done(); err != nil {
		return err
	}
	h, meta, err := s.config.Memory.History(c.r.Context(), c.caller, read, c.param("id"), limit, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warnCut("pieces", h.PiecesCut, len(h.Pieces))
	c.warnCut("versions", h.VersionsCut, len(h.Versions))
	c.warnCut("timeline", h.TimelineCut, len(h.Timeline))
	b := append(c.begin(), `{"fact":`...)
	b = jsonx.AppendFact(b, &h.Fact)
	b = append(b, `,"pieces":`...)
	b = jsonx.AppendFacts(b, h.Pieces)
	b = append(b, `,"versions":`...)
	b = jsonx.AppendFacts(b, h.Versions)
	b = append(b, `,"timeline":`...)
	b = jsonx.AppendFacts(b, h.Timeline)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// warnCut tells that a list of an answer holds its first rows only.
func (c *call) warnCut(list string, cut bool, rows int) {
	if cut {
		c.input.Warn(list + " holds the first " + strconv.Itoa(rows) + " only: list the others with /api/facts?subject=")
	}
}

// assertFact is POST /api/facts.
func (s *Server) assertFact(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	c.unwatch()
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	a, err := c.input.Assert(body, "", false)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	result, err := s.config.Memory.Assert(c.r.Context(), c.caller, o, &a, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	done := &result.Asserts[0]
	c.explainAssert(&a, done)
	b := appendReceipt(jsonx.AppendFactFields(c.begin(), &done.Fact), done.Superseded)
	b = appendMasked(b, result)
	b = append(b, `,"continuations":`...)
	b, left := appendWithin(b, len(done.Continuations), func(i int) *fact.Fact { return &done.Continuations[i] })
	c.warnLeft(left, result.Tx)
	b = append(c.warnField(b), '}')
	if done.Duplicate {
		return c.finish(http.StatusOK, b)
	}
	return c.finish(http.StatusCreated, b)
}

// appendReceipt appends how many facts a write ended, and which (C-51).
func appendReceipt(b []byte, ended []fact.Fact) []byte {
	b = append(b, `,"superseded":`...)
	b = strconv.AppendInt(b, int64(len(ended)), 10)
	b = append(b, `,"superseded_ids":[`...)
	for i := range ended {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonx.AppendID(b, ended[i].ID)
	}
	return append(b, ']')
}

// appendMasked appends how much personal data was masked.
func appendMasked(b []byte, r *fact.Result) []byte {
	return strconv.AppendInt(append(b, `,"pii_masked":`...), int64(r.Masked), 10)
}

// explainAssert tells what was decided about an assert (F-110).
func (c *call) explainAssert(a *fact.Assert, done *fact.AssertResult) {
	if c.trace == nil {
		return
	}
	plan := "validate → duplicate check → by_subject timeline → " + a.Policy.String()
	if done.Duplicate {
		plan = "validate → duplicate check → return the existing fact"
	} else if done.Fact.Status == fact.Candidate {
		plan = "validate → below the threshold → candidate"
	}
	c.trace.Name("assert_fact", plan)
	c.trace.Text("input.subject", done.Fact.Subject)
	c.trace.Text("policy", a.Policy.String())
	c.trace.Int("active_before", done.ActiveBefore)
	c.trace.Int("active_after", done.ActiveAfter)
	c.trace.Int("active_delta", done.ActiveAfter-done.ActiveBefore)
	c.trace.Text("status", done.Fact.Status.String())
	c.trace.Bool("duplicate", done.Duplicate)
	c.trace.Int("superseded", len(done.Superseded))
}

// retractFact is DELETE /api/facts/:id.
func (s *Server) retractFact(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	id := c.param("id")
	result, err := s.config.Memory.Retract(c.r.Context(), c.caller, o, id, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return sayWhich(err, id)
	}
	c.trace.Name("retract_fact", "by_id → every piece of the statement")
	c.trace.Int("pieces", len(result.Retracted))
	c.trace.Text("status", fact.Retracted.String())
	if parsed, ok := fact.ParseID(id); ok { // an id is told in one spelling, however it was sent
		id = parsed.String()
	}
	b := append(c.begin(), `{"ok":true,"id":`...)
	b = jsonx.AppendString(b, id)
	return c.finish(http.StatusOK, append(b, '}'))
}

// noBranch reports whether an error is that of a branch which is not there.
func noBranch(err error) bool {
	var e *fact.Error
	return errors.As(err, &e) && e.Field == "branch"
}

// sayWhich gives the error of a fact that is not found the same words whether
// the id was malformed, unknown or another tenant's (C-42).
func sayWhich(err error, id string) error {
	if fact.CodeOf(err) == fact.NotFound && err != error(denied()) && !noBranch(err) {
		return memory.NoFact(id)
	}
	return err
}
