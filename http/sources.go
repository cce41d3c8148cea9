package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// undoSource is POST /api/sources/:name/undo: it takes back what a source wrote.
func (s *Server) undoSource(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	q := &memory.UndoQuery{Source: c.param("name")}
	if err := c.undoFields(q); err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	done, result, err := s.config.Memory.Undo(c.r.Context(), c.caller, o, q, c.trace)
	if done != nil {
		c.meta(&done.Meta)
	}
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	tx := done.Meta.Tx
	if result != nil {
		tx = result.Tx
	}
	if !q.DryRun {
		s.config.Logger.Info("abagraph.source.undo", "statements", done.Statements, "facts", done.Facts, "tx", tx, "tenant", c.caller.Tenant)
	}
	b := appendUndone(c.begin(), q, done)
	b = strconv.AppendUint(append(b, `,"tx":`...), tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// undoFields reads how to undo, from the query or from a body.
func (c *call) undoFields(q *memory.UndoQuery) error {
	q.DryRun, _ = c.query.flag("dry_run")
	q.Partial, _ = c.query.flag("partial")
	q.After, _ = c.query.number("tx_gt")
	q.Limit = c.query.limit()
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
	if err := c.input.Scope(v); err != nil {
		return err
	}
	f := jsonx.Open(v, "")
	f.Ignore("branch")
	f.Ignore("tenant")
	q.DryRun = f.Flag("dry_run") || q.DryRun
	q.Partial = f.Flag("partial") || q.Partial
	if after, ok := f.Integer("tx_gt", 0, 1<<62); ok {
		q.After = uint64(after)
	}
	if limit, ok := f.Integer("limit", 0, memory.MaxUndo); ok {
		q.Limit = int(limit)
	}
	return f.Done()
}

// appendUndone appends what an undo did without the closing brace.
func appendUndone(b []byte, q *memory.UndoQuery, done *memory.Undone) []byte {
	b = jsonx.AppendString(append(b, `{"source":`...), q.Source)
	b = jsonx.AppendBool(append(b, `,"dry_run":`...), q.DryRun)
	b = strconv.AppendInt(append(b, `,"statements":`...), int64(done.Statements), 10)
	b = strconv.AppendInt(append(b, `,"retracted":`...), int64(done.Facts), 10)
	b = strconv.AppendInt(append(b, `,"remaining":`...), int64(done.Remaining), 10)
	b = append(b, `,"found":{`...)
	for i, status := range [...]fact.Status{fact.Active, fact.Candidate, fact.Superseded} {
		b = append(jsonx.AppendString(comma(b, i), status.String()), ':')
		b = strconv.AppendInt(b, int64(done.Found[status]), 10)
	}
	b = jsonx.AppendIDs(append(b, `},"retracted_ids":`...), done.IDs)
	if q.DryRun {
		b = jsonx.AppendFacts(append(b, `,"sample":`...), done.Sample)
	}
	return b
}
