package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/report"
)

// setReport is POST /api/reports.
func (s *Server) setReport(c *call) error {
	if err := c.caller.Require(fact.RoleAdmin); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	if err := c.input.Scope(body); err != nil {
		return err
	}
	r, err := memory.ParseReport(body)
	if err != nil {
		return err
	}
	dryRun, _ := c.query.flag("dry_run")
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	if dryRun {
		if r, err = s.config.Memory.DraftReport(c.r.Context(), c.caller, o.Branch, r); err != nil {
			return err
		}
		return s.previewReport(c, r)
	}
	made, result, err := s.config.Memory.SetReport(c.r.Context(), c.caller, o, r, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if result == nil || !result.Wrote {
		status = http.StatusOK
	}
	return c.finish(status, c.appendEdition(c.begin(), made, nil, false))
}

// previewReport answers an edition that is not kept.
func (s *Server) previewReport(c *call, r *memory.Report) error {
	c.patience(memory.ReportTime)
	edition, err := s.config.Memory.PreviewReport(c.r.Context(), c.caller, r, c.trace)
	c.stand()
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, c.appendEdition(c.begin(), r, edition, true))
}

// appendEdition appends a report and what it says; nil = nothing yet.
func (c *call) appendEdition(b []byte, r *memory.Report, edition []byte, dryRun bool) []byte {
	b = appendReport(append(b, `{"report":`...), r)
	if b = append(b, `,"edition":`...); edition == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, edition...)
	}
	return append(c.warnField(jsonx.AppendBool(append(b, `,"dry_run":`...), dryRun)), '}')
}

func appendReport(b []byte, r *memory.Report) []byte {
	b = r.Append(b)
	b = appendKnown(append(b, `,"by":`...), r.By)
	b = jsonx.AppendString(append(b, `,"page":`...), r.Page())
	if b = append(b, `,"created_at":`...); r.Tx == 0 {
		return append(b, `null,"tx":null,"next":null,"last":null}`...) // a preview
	}
	b = jsonx.AppendInstant(b, r.CreatedAt)
	b = strconv.AppendUint(append(b, `,"tx":`...), r.Tx, 10)
	b = jsonx.AppendInstant(append(b, `,"next":`...), r.Next(max(r.CreatedAt, r.State.Slot)))
	if b = append(b, `,"last":`...); r.State.Outcome == "" {
		return append(b, `null}`...)
	}
	b = jsonx.AppendInstant(append(r.State.Append(b), `,"since":`...), r.State.Since)
	return append(b, `}}`...)
}

// listReports is GET /api/reports.
func (s *Server) listReports(c *call) error {
	read := c.travel()
	if err := c.query.done(); err != nil {
		return err
	}
	list, meta, err := s.config.Memory.Reports(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), `{"reports":[`...)
	for i, r := range list {
		b = appendReport(comma(b, i), r)
	}
	return c.finish(http.StatusOK, append(c.warnField(append(b, ']')), '}'))
}

// getReport is GET /api/reports/:name.
func (s *Server) getReport(c *call) error {
	read := c.travel()
	format, _ := c.query.text("format")
	if format != "" && format != "json" && format != "md" {
		c.query.fail(fact.Invalid("format", "must be json or md"))
	}
	if err := c.query.done(); err != nil {
		return err
	}
	name := c.param("name")
	r, edition, meta, err := s.config.Memory.Edition(c.r.Context(), c.caller, read, name, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	if format == "md" {
		return c.showReport(edition)
	}
	return c.finish(http.StatusOK, c.appendEdition(c.begin(), r, edition, false))
}

// showReport sends an edition as Markdown.
func (c *call) showReport(edition []byte) error {
	if edition == nil {
		return fact.Errorf(fact.NotFound, "the report has no edition yet: POST /api/reports/%s/run makes one", c.param("name"))
	}
	v, err := jsonx.Parse(edition)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h["Content-Type"] = []string{kindMarkdown}
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	c.status = http.StatusOK
	c.w.WriteHeader(c.status)
	_, _ = c.w.Write([]byte(report.Markdown(v))) // a write that fails has lost its reader
	return nil
}

// deleteReport is DELETE /api/reports/:name.
func (s *Server) deleteReport(c *call) error {
	o, err := c.bare()
	if err != nil {
		return err
	}
	name := c.param("name")
	result, err := s.config.Memory.DeleteReport(c.r.Context(), c.caller, o, name, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	b := jsonx.AppendString(append(c.begin(), `{"ok":true,"name":`...), name)
	return c.finish(http.StatusOK, append(b, '}'))
}

// pauseReport is POST /api/reports/:name/pause.
func (s *Server) pauseReport(c *call) error { return s.setReportPaused(c, true) }

// resumeReport is POST /api/reports/:name/resume.
func (s *Server) resumeReport(c *call) error { return s.setReportPaused(c, false) }

func (s *Server) setReportPaused(c *call, paused bool) error {
	if err := c.emptyBody(); err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	r, result, err := s.config.Memory.PauseReport(c.r.Context(), c.caller, o, c.param("name"), paused, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, appendReport(c.begin(), r))
}

// runReport is POST /api/reports/:name/run.
func (s *Server) runReport(c *call) error {
	if err := c.caller.Require(fact.RoleAdmin); err != nil {
		return err
	}
	if err := c.emptyBody(); err != nil {
		return err
	}
	dryRun, _ := c.query.flag("dry_run")
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	ctx, name, door := c.r.Context(), c.param("name"), s.config.Memory
	if dryRun {
		r, _, err := door.Report(ctx, c.caller, memory.NewRead(), name, nil)
		if err != nil {
			return err
		}
		return s.previewReport(c, r)
	}
	c.patience(memory.ReportTime)
	_, result, err := door.RunReport(ctx, c.caller, o, name, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	// What the caller is shown is what its own policy lets it read.
	read := memory.NewRead()
	read.Tx, read.Pinned = result.Tx, true
	r, edition, _, err := door.Edition(ctx, c.caller, read, name, nil)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, c.appendEdition(c.begin(), r, edition, false))
}
