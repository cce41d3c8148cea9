package http

import (
	"net/http"
	"strconv"
	"time"

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
	if d.Extract.Given() {
		c.patience(ingest.ReadTime)
	}
	r, result, err := s.config.Desk.Digest(c.r.Context(), c.caller, o, d, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	if !d.FromFacts && !d.Extract.Given() {
		c.input.Warn("no model was given: only the [[links]] of the content were extracted")
	}
	if r.Job != nil {
		s.config.Logger.Info("abagraph.digest", d.Told(r, c.caller.Tenant)...)
		return c.finish(http.StatusAccepted, append(c.warnField(appendJob(c.begin(), r.Job)), '}'))
	}
	s.config.Logger.Info("abagraph.digest", d.Told(r, c.caller.Tenant)...)
	b := appendDigested(c.begin(), r)
	b = strconv.AppendUint(append(b, `,"tx":`...), result.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// patience gives an answer that waits for models more time to be written.
func (c *call) patience(d time.Duration) {
	if w, ok := c.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = w.SetWriteDeadline(time.Now().Add(d + time.Minute)) // a connection without deadlines has none
	}
}

// appendDigested appends a receipt without its closing brace.
func appendDigested(b []byte, r *ingest.Receipt) []byte {
	b = strconv.AppendInt(append(b, `{"written":`...), int64(r.Counts[ingest.Written]), 10)
	b = append(b, `,"written_ids":`...)
	b = jsonx.AppendIDs(b, r.IDs(ingest.Written))
	b = strconv.AppendInt(append(b, `,"superseded":`...), int64(len(r.Superseded)), 10)
	b = append(b, `,"superseded_ids":`...)
	b = jsonx.AppendIDs(b, r.Superseded)
	b = strconv.AppendInt(append(b, `,"candidates":`...), int64(r.Counts[ingest.Candidate]), 10)
	b = append(b, `,"candidate_ids":`...)
	b = jsonx.AppendIDs(b, r.IDs(ingest.Candidate))
	b = strconv.AppendInt(append(b, `,"duplicates":`...), int64(r.Counts[ingest.Duplicate]), 10)
	b = strconv.AppendInt(append(b, `,"refused":`...), int64(r.Counts[ingest.Refused]), 10)
	b = append(b, `,"entities":`...)
	b = jsonx.AppendStrings(b, r.Entities)
	b = strconv.AppendInt(append(b, `,"pii_masked":`...), int64(r.Masked), 10)
	if r.Document != "" {
		b = jsonx.AppendString(append(b, `,"document":`...), r.Document)
		b = strconv.AppendInt(append(b, `,"chunks":`...), int64(r.Chunks), 10)
		b = append(b, `,"notes":`...)
		b = jsonx.AppendStrings(b, r.Notes)
	}
	b = append(b, `,"items":[`...)
	for i := range r.Items {
		b = appendItem(comma(b, i), &r.Items[i])
	}
	return append(b, ']')
}

// appendItem appends what became of one statement; what a model found is told with
// it.
func appendItem(b []byte, item *ingest.Item) []byte {
	b = append(append(append(b, `{"outcome":"`...), item.Outcome.String()...), '"')
	if item.Outcome != ingest.Refused {
		b = jsonx.AppendID(append(b, `,"id":`...), item.Fact.ID)
	}
	if item.Chunk > 0 {
		b = jsonx.AppendString(append(b, `,"subject":`...), item.Said.Subject)
		b = jsonx.AppendString(append(b, `,"predicate":`...), item.Said.Predicate)
		b = jsonx.AppendString(append(b, `,"object":`...), item.Said.Object)
		b = jsonx.AppendString(append(b, `,"quote":`...), item.Quote)
		b = strconv.AppendInt(append(b, `,"chunk":`...), int64(item.Chunk), 10)
	}
	if item.Reason != "" {
		b = jsonx.AppendString(append(b, `,"reason":`...), item.Reason)
	}
	if len(item.Notes) > 0 {
		b = append(b, `,"notes":`...)
		b = jsonx.AppendStrings(b, item.Notes)
	}
	return append(b, '}')
}
