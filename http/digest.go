package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/ingest"
	"abagraph/internal/jsonx"
)

// digest is POST /api/digest.
func (s *Server) digest(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	d, err := ingest.Read(&c.input, body)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	r, result, err := ingest.Run(c.r.Context(), s.config.Memory, c.caller, o, d, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	mode := "facts"
	if !d.FromFacts {
		mode = "links"
		c.input.Warn("no model was given: only the [[links]] of the content were extracted")
	}
	s.config.Logger.Info("abagraph.digest", "mode", mode, "records", len(r.Items), "written", r.Counts[ingest.Written],
		"candidates", r.Counts[ingest.Candidate], "superseded", len(r.Superseded), "pii_masked", r.Masked, "tenant", c.caller.Tenant)
	b := appendDigested(c.begin(), r)
	b = strconv.AppendUint(append(b, `,"tx":`...), result.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendDigested appends a receipt without its closing brace.
func appendDigested(b []byte, r *ingest.Receipt) []byte {
	b = strconv.AppendInt(append(b, `{"written":`...), int64(r.Counts[ingest.Written]), 10)
	b = append(b, `,"written_ids":[`...)
	n := 0
	for i := range r.Items {
		if r.Items[i].Outcome == ingest.Written {
			b = jsonx.AppendID(comma(b, n), r.Items[i].Fact.ID)
			n++
		}
	}
	b = strconv.AppendInt(append(b, `],"superseded":`...), int64(len(r.Superseded)), 10)
	b = append(b, `,"superseded_ids":`...)
	b = jsonx.AppendIDs(b, r.Superseded)
	b = strconv.AppendInt(append(b, `,"candidates":`...), int64(r.Counts[ingest.Candidate]), 10)
	b = strconv.AppendInt(append(b, `,"duplicates":`...), int64(r.Counts[ingest.Duplicate]), 10)
	b = append(b, `,"entities":`...)
	b = jsonx.AppendStrings(b, r.Entities)
	b = strconv.AppendInt(append(b, `,"pii_masked":`...), int64(r.Masked), 10)
	b = append(b, `,"items":[`...)
	for i := range r.Items {
		b = append(comma(b, i), `{"outcome":"`...)
		b = append(b, r.Items[i].Outcome.String()...)
		b = append(b, `","id":`...)
		b = append(jsonx.AppendID(b, r.Items[i].Fact.ID), '}')
	}
	return append(b, ']')
}
