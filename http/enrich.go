package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// enrich is POST /api/enrich: statements with personal data masked, and what holds
// and says otherwise. It writes nothing.
func (s *Server) enrich(c *call) error {
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	q, err := c.input.Enrich(body)
	if err != nil {
		return err
	}
	q.Read = c.read()
	if q.Branch, err = c.input.Branch(q.Branch); err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	done, meta, err := s.config.Memory.Enrich(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	if done.Cut {
		c.input.Warn("not all conflicts are shown, for one answer holds so many only: send fewer facts")
	}
	b := append(c.begin(), `{"facts":[`...)
	for i := range done.Facts {
		b = appendStatement(comma(b, i), &done.Facts[i])
	}
	b = append(b, `],"conflicts":[`...)
	for i := range done.Conflicts {
		b = appendDisagreement(comma(b, i), &done.Conflicts[i])
	}
	b = strconv.AppendInt(append(b, `],"masked":`...), int64(done.Masked), 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendStatement appends a statement as it may be sent back to be written. What
// its writer left to the server stays out.
func appendStatement(b []byte, a *fact.Assert) []byte {
	b = jsonx.AppendString(append(b, `{"subject":`...), a.Subject)
	b = jsonx.AppendString(append(b, `,"predicate":`...), a.Predicate)
	b = jsonx.AppendObject(append(b, `,"object":`...), a.Object)
	b = jsonx.AppendFloat(append(b, `,"confidence":`...), a.Confidence)
	if a.Source != nil {
		b = jsonx.AppendString(append(b, `,"source":`...), *a.Source)
	}
	if a.ValidFrom.Given() {
		b = jsonx.AppendInstant(append(b, `,"valid_from":`...), a.ValidFrom)
	}
	if a.ValidUntil != fact.Forever {
		b = jsonx.AppendInstant(append(b, `,"valid_until":`...), a.ValidUntil)
	}
	if a.Properties != nil {
		b = append(append(b, `,"properties":`...), a.Properties...)
	}
	if a.Policy != fact.AutoSupersede {
		b = jsonx.AppendString(append(b, `,"policy":`...), a.Policy.String())
	}
	if a.Transient {
		b = append(b, `,"transient":true`...)
	}
	return append(b, '}')
}

func appendDisagreement(b []byte, d *memory.Disagreement) []byte {
	b = jsonx.AppendString(append(b, `{"subject":`...), d.Existing.Subject)
	b = jsonx.AppendString(append(b, `,"predicate":`...), d.Existing.Predicate)
	b = jsonx.AppendObject(append(b, `,"incoming":`...), d.Incoming)
	b = jsonx.AppendObject(append(b, `,"existing":`...), d.Existing.Object)
	b = jsonx.AppendObject(append(b, `,"current":`...), d.Existing.Object)
	b = jsonx.AppendID(append(b, `,"existing_id":`...), d.Existing.ID)
	return append(b, '}')
}
