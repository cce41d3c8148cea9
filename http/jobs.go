package http

import (
	"net/http"
	"strconv"

	"abagraph/ingest"
	"abagraph/internal/jsonx"
)

// digestJob is GET /api/digest/jobs/:id: how far a long text has been read.
func (s *Server) digestJob(c *call) error {
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	j, meta, err := s.config.Desk.Job(c.r.Context(), c.caller, read, c.param("id"), c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	c.trace.Name("get_job", "by_subject index")
	return c.finish(http.StatusOK, append(c.warnField(appendJob(c.begin(), j)), '}'))
}

// resumeDigest is POST /api/digest/jobs/:id/resume: goes on where a job stopped.
func (s *Server) resumeDigest(c *call) error {
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	extract, judge, err := ingest.ReadModels(body)
	if err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	j, result, err := s.config.Desk.Resume(c.r.Context(), c.caller, c.param("id"), extract, judge)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	c.trace.Name("resume_job", "by_subject index → guard → assert")
	return c.finish(http.StatusAccepted, append(c.warnField(appendJob(c.begin(), j)), '}'))
}

// stopDigest is POST /api/digest/jobs/:id/stop: ends a job where it is.
func (s *Server) stopDigest(c *call) error {
	if err := c.emptyBody(); err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	j, meta, result, err := s.config.Desk.Stop(c.r.Context(), c.caller, c.param("id"))
	c.meta(&meta)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	c.trace.Name("stop_job", "by_subject index → guard → assert")
	return c.finish(http.StatusOK, append(c.warnField(appendJob(c.begin(), j)), '}'))
}

// appendJob appends a job without its closing brace.
func appendJob(b []byte, j *ingest.Job) []byte {
	b = jsonx.AppendString(append(b, `{"job":`...), j.ID)
	b = jsonx.AppendString(append(b, `,"status":`...), j.Status)
	b = jsonx.AppendString(append(b, `,"document":`...), j.Document)
	b = strconv.AppendInt(append(b, `,"chunks":`...), int64(j.Chunks), 10)
	b = strconv.AppendInt(append(b, `,"done":`...), int64(j.Done), 10)
	for o, name := range [...]string{"written", "candidates", "duplicates", "refused"} {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strconv.AppendInt(b, int64(j.Counts[o]), 10)
	}
	b = strconv.AppendInt(append(b, `,"pii_masked":`...), int64(j.Masked), 10)
	b = strconv.AppendBool(append(b, `,"runs_here":`...), j.Here)
	b = append(b, `,"reason":`...)
	if j.Reason == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, j.Reason)
}
