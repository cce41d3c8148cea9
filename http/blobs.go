package http

import (
	"math"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// blob is GET /api/blobs/:hash: a piece of a text that a digest has kept.
func (s *Server) blob(c *call) error {
	read := c.read()
	part, _ := c.query.number("part")
	if part > math.MaxInt32 {
		c.query.fail(fact.Invalid("part", "must be a whole number from 0 on"))
	}
	if err := c.query.done(); err != nil {
		return err
	}
	hash := c.param("hash")
	text, more, meta, err := s.config.Memory.Blob(c.r.Context(), c.caller, read, hash, uint32(part), c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	b := jsonx.AppendString(append(c.begin(), `{"hash":`...), hash)
	b = strconv.AppendUint(append(b, `,"part":`...), part, 10)
	b = jsonx.AppendString(append(b, `,"text":`...), text)
	b = append(b, `,"next":`...)
	if more {
		b = strconv.AppendUint(b, part+1, 10)
	} else {
		b = append(b, "null"...)
	}
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}
