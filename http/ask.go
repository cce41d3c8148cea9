package http

import (
	"net/http"
	"strconv"

	"abagraph/ingest"
	"abagraph/internal/jsonx"
)

// ask is POST /api/ask.
func (s *Server) ask(c *call) error {
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	q := &ingest.Question{Read: c.travel()}
	if err := ingest.ReadQuestion(&c.input, body, q); err != nil {
		return err
	}
	if q.Branch, err = c.input.Branch(q.Branch); err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	c.patience(ingest.AskTime)
	a, meta, err := s.config.Desk.Ask(c.r.Context(), c.caller, q, c.trace)
	if err != nil {
		return err
	}
	s.config.Logger.Info("abagraph.ask", "model", q.Model.Config, "evidence", len(a.Evidence), "tokens_in", a.TokensIn, "tokens_out", a.TokensOut, "tenant", c.caller.Tenant)
	c.meta(&meta)
	for _, w := range a.Warnings {
		c.input.Warn(w)
	}
	b := jsonx.AppendString(append(c.begin(), `{"answer":`...), a.Answer)
	b = jsonx.AppendFacts(append(b, `,"evidence":`...), a.Evidence)
	b = jsonx.AppendIDs(append(b, `,"cited":`...), a.Cited)
	b = appendNumber(append(b, `,"model_confidence":`...), a.Confidence)
	b = appendNumber(append(b, `,"system_reliability":`...), a.Reliability)
	b = strconv.AppendInt(append(b, `,"tokens":{"in":`...), int64(a.TokensIn), 10)
	b = strconv.AppendInt(append(b, `,"out":`...), int64(a.TokensOut), 10)
	return c.finish(http.StatusOK, append(c.warnField(append(b, '}')), '}'))
}

func appendNumber(b []byte, n *float64) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return jsonx.AppendFloat(b, *n)
}
