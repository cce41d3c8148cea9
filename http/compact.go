package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// compact is POST /api/compact: what of the facts in the body fits into a budget.
// It reads and writes nothing.
func (s *Server) compact(c *call) error {
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	q, err := c.input.Compact(body)
	if err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	done, err := s.config.Memory.Compact(c.r.Context(), q)
	if err != nil {
		return err
	}
	c.stand()
	c.trace.Step("execute", "rank → trim")
	c.trace.Name("compact", "rank by confidence and recency → trim to the budget")
	c.trace.Int("facts", len(q.Facts))
	c.trace.Int("kept", len(done.Kept))
	b := append(c.begin(), `{"facts":[`...)
	for i, at := range done.Kept {
		b = appendAsSent(comma(b, i), q.Raw[at])
	}
	b = strconv.AppendInt(append(b, `],"tokens":`...), int64(done.Tokens), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(done.TotalTokens), 10)
	b = strconv.AppendInt(append(b, `,"dropped":`...), int64(len(q.Facts)-len(done.Kept)), 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendAsSent appends a fact as the caller sent it, but for the status, of which
// answers have one spelling (C-4).
func appendAsSent(b []byte, v jsonx.Value) []byte {
	b = append(b, '{')
	for i := range v.Kids {
		kid := &v.Kids[i]
		b = append(jsonx.AppendString(comma(b, i), kid.Name), ':')
		if status, ok := fact.ParseStatus(kid.Text); ok && kid.Name == "status" {
			b = jsonx.AppendString(b, status.String())
			continue
		}
		b = append(b, kid.Raw...)
	}
	return append(b, '}')
}
