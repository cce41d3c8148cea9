package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// purgeTarget reads what to purge.
func (c *call) purgeTarget() (t memory.PurgeTarget) {
	t.Subject, _ = c.query.text("subject")
	t.Prefix, _ = c.query.text("prefix")
	t.Kind, _ = c.query.text("kind")
	return t
}

// appendTarget appends the selector as it was given.
func appendTarget(b []byte, t memory.PurgeTarget) []byte {
	for _, part := range [...][2]string{{"subject", t.Subject}, {"prefix", t.Prefix}, {"kind", t.Kind}} {
		if part[1] != "" {
			b = append(jsonx.AppendString(b, part[0]), ':')
			b = append(jsonx.AppendString(b, part[1]), ',')
		}
	}
	return b
}

// previewPurge is GET /api/admin/purge: it counts, and touches nothing.
func (s *Server) previewPurge(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	t := c.purgeTarget()
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	n, meta, err := s.config.Memory.PurgePreview(c.r.Context(), c.caller, read, t, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := appendTarget(append(c.begin(), '{'), t)
	b = strconv.AppendUint(append(b, `"facts":`...), n, 10)
	return c.finish(http.StatusOK, append(b, `,"dry_run":true}`...))
}

// purge is POST /api/admin/purge: it erases, for good (C-56).
func (s *Server) purge(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	t := c.purgeTarget()
	confirmed, _ := c.query.flag("confirm")
	o, err := c.approved()
	if err != nil {
		return err
	}
	if err := t.Check(); err != nil {
		return err
	}
	if !confirmed {
		return fact.Invalid("confirm", "must be 1: a purge cannot be undone")
	}
	result, err := s.config.Memory.Purge(c.r.Context(), c.caller, o, t, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	s.config.Logger.Info("abagraph.admin.purge", "deleted", result.Purged, "tx", result.Tx)
	b := appendTarget(append(c.begin(), '{'), t)
	b = strconv.AppendUint(append(b, `"deleted":`...), result.Purged, 10)
	return c.finish(http.StatusOK, append(b, `,"dry_run":false}`...))
}
