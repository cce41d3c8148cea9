package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// changes is GET /api/changes.
func (s *Server) changes(c *call) error {
	q := &memory.ChangesQuery{Read: c.travel(), Narrow: c.narrow(), From: c.instant("from"), To: c.instant("to")}
	q.Objects = c.query.object("object")
	if !q.From.Given() {
		c.query.fail(fact.Invalid("from", "is required"))
	}
	if text, given := c.query.text("axis"); given {
		axis, err := memory.ParseAxis("axis", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Axis = axis
	}
	if err := c.query.done(); err != nil {
		return err
	}
	d, meta, err := s.config.Memory.Changes(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := append(c.begin(), `{"from":`...)
	b = jsonx.AppendInstant(b, d.From)
	b = append(b, `,"to":`...)
	b = jsonx.AppendInstant(b, d.To)
	b = append(b, `,"axis":`...)
	b = jsonx.AppendString(b, d.Axis.String())
	b = append(b, `,"added":`...)
	b = jsonx.AppendFacts(b, d.Added)
	b = append(b, `,"superseded":`...)
	b = jsonx.AppendFacts(b, d.Superseded)
	b = append(b, `,"retracted":`...)
	b = jsonx.AppendIDs(b, d.Retracted)
	b = append(b, `,"expired":`...)
	b = jsonx.AppendIDs(b, d.Expired)
	b = strconv.AppendInt(append(b, `,"added_count":`...), int64(d.AddedTotal), 10)
	b = strconv.AppendInt(append(b, `,"superseded_count":`...), int64(d.SupersededTotal), 10)
	b = strconv.AppendInt(append(b, `,"still_valid":`...), int64(d.StillValid), 10)
	b = c.goesOn(b, d.Next)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}
