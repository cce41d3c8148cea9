package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// embeddings is GET /api/embeddings: how many facts have a vector of the present
// model, and how far the job is that embeds the others.
func (s *Server) embeddings(c *call) error {
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	return s.tellEmbeddings(c, read)
}

// embed is POST /api/embeddings: the job of this node looks at every fact anew.
func (s *Server) embed(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := s.config.Memory.RunEmbedding(c.caller); err != nil {
		return err
	}
	return s.tellEmbeddings(c, memory.NewRead())
}

func (s *Server) tellEmbeddings(c *call, read memory.Read) error {
	e, meta, err := s.config.Memory.Embeddings(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.trace.Name("embeddings", "count facts and vectors side by side")
	b := jsonx.AppendString(append(c.begin(), `{"provider":`...), e.Provider)
	b = strconv.AppendBool(append(b, `,"enabled":`...), e.Enabled)
	b = append(b, `,"model":`...)
	if !e.Enabled {
		return c.finish(http.StatusOK, append(b, `null,"dim":null,"facts":null,"embedded":null,"missing":null,"job":null}`...))
	}
	b = jsonx.AppendString(b, e.Model.Name)
	b = strconv.AppendInt(append(b, `,"dim":`...), int64(e.Model.Dim), 10)
	b = strconv.AppendUint(append(b, `,"facts":`...), e.Count.Facts, 10)
	b = strconv.AppendUint(append(b, `,"embedded":`...), e.Count.Facts-e.Count.Missing, 10)
	b = strconv.AppendUint(append(b, `,"missing":`...), e.Count.Missing, 10)
	b = appendEmbedJob(append(b, `,"job":`...), e, c.caller.Operator)
	return c.finish(http.StatusOK, append(b, '}'))
}

// appendEmbedJob appends how far the job of this node is. It works for all tenants,
// so that its counts are for an operator only.
func appendEmbedJob(b []byte, e *memory.Embeddings, operator bool) []byte {
	b = strconv.AppendBool(append(b, `{"running":`...), e.Job.Running)
	b = strconv.AppendBool(append(b, `,"leads":`...), e.Leads)
	b = strconv.AppendUint(append(b, `,"through_tx":`...), e.Job.Through, 10)
	if operator {
		b = strconv.AppendUint(append(b, `,"embedded":`...), e.Job.Embedded, 10)
		b = strconv.AppendUint(append(b, `,"unusable":`...), e.Job.Unusable, 10)
	} else {
		b = append(b, `,"embedded":null,"unusable":null`...)
	}
	if e.Job.LastError == "" {
		return append(b, `,"last_error":null,"last_error_at":null}`...)
	}
	b = jsonx.AppendString(append(b, `,"last_error":`...), e.Job.LastError)
	return append(appendInstant(append(b, `,"last_error_at":`...), e.Job.LastErrorAt), '}')
}

func appendInstant(b []byte, t fact.Instant) []byte { return strconv.AppendInt(b, int64(t), 10) }
