package http

import (
	"math"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// blob is GET /api/blobs/:hash: a piece of a text that a digest has kept.
func (s *Server) blob(c *call) error {
	q := &memory.BlobQuery{Read: c.travel(), Hash: c.param("hash")}
	q.IncludeRetracted, _ = c.query.flag("include_retracted")
	part, _ := c.query.number("part")
	if part > math.MaxInt32 {
		c.query.fail(fact.Invalid("part", "must be a whole number from 0 on"))
	}
	if err := c.query.done(); err != nil {
		return err
	}
	q.Part = uint32(part)
	p, meta, err := s.config.Memory.Blob(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := jsonx.AppendString(append(c.begin(), `{"hash":`...), p.Hash)
	b = strconv.AppendInt(append(b, `,"size":`...), p.Size, 10)
	b = strconv.AppendUint(append(b, `,"part":`...), part, 10)
	b = jsonx.AppendString(append(b, `,"text":`...), p.Text)
	b = append(b, `,"next":`...)
	if p.More {
		b = strconv.AppendUint(b, part+1, 10)
	} else {
		b = append(b, "null"...)
	}
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}
