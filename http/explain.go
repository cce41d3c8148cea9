package http

import (
	"net/http"
	"strconv"

	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// explainFact is GET /api/facts/:id/explain.
func (s *Server) explainFact(c *call) error {
	read := c.read()
	limit := c.query.limit()
	if err := c.query.done(); err != nil {
		return err
	}
	e, meta, err := s.config.Memory.ExplainFact(c.r.Context(), c.caller, read, c.param("id"), limit, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warnCut("pieces", e.PiecesCut, len(e.Pieces))
	c.warnCut("versions", e.VersionsCut, len(e.Versions))
	c.warnCut("history", e.TimelineCut, len(e.Timeline))
	b := append(c.begin(), `{"fact":`...)
	b = jsonx.AppendFact(b, &e.Fact)
	b = append(b, `,"history":`...)
	b = jsonx.AppendFacts(b, e.Timeline)
	b = append(b, `,"pieces":`...)
	b = jsonx.AppendFacts(b, e.Pieces)
	b = append(b, `,"versions":`...)
	b = jsonx.AppendFacts(b, e.Versions)
	b = append(b, `,"superseded_by":`...)
	if e.EndedBy == nil {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendFact(b, e.EndedBy)
	}
	b = append(b, `,"superseded":`...)
	b = jsonx.AppendFacts(b, e.Ended)
	b = append(b, `,"corroboration":`...)
	b = appendCorroboration(b, e)
	b = append(b, `,"conflicts":`...)
	b = jsonx.AppendFacts(b, e.Disagreeing)
	b = append(b, `,"note":`...)
	b = jsonx.AppendString(b, memory.ExplainNote)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendCorroboration appends who agrees with a fact: counts, the names of the
// sources (C-51), and the facts.
func appendCorroboration(b []byte, e *memory.Explanation) []byte {
	b = strconv.AppendInt(append(b, `{"agree":`...), int64(len(e.Agreeing)), 10)
	b = strconv.AppendInt(append(b, `,"conflict":`...), int64(len(e.Disagreeing)), 10)
	b = strconv.AppendInt(append(b, `,"sources":`...), int64(len(e.Sources)), 10)
	b = append(b, `,"source_names":`...)
	b = jsonx.AppendStrings(b, e.Sources)
	b = append(b, `,"facts":`...)
	return append(jsonx.AppendFacts(b, e.Agreeing), '}')
}
