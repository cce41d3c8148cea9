package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/page"
)

const pagesPath = "/api/pages/"

// getPage is GET /api/pages/:subject.
func (s *Server) getPage(c *call) error {
	q := &memory.PageQuery{Read: c.travel(), Name: c.rest(pagesPath)}
	q.IncludeRetracted, _ = c.query.flag("include_retracted")
	if err := c.query.done(); err != nil {
		return err
	}
	p, meta, err := s.config.Memory.Page(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := appendPage(c.begin(), p)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// putPage is PUT /api/pages/:subject.
func (s *Server) putPage(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	in, err := c.input.Page(body, c.rest(pagesPath))
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	saved, result, err := s.config.Memory.SavePage(c.r.Context(), c.caller, o, in, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	for _, w := range saved.Warnings {
		c.input.Warn(w)
	}
	b := appendMasked(appendSaved(appendPage(c.begin(), saved.Page), saved), result)
	status := http.StatusOK
	if saved.Created {
		status = http.StatusCreated
	}
	return c.finish(status, append(c.warnField(b), '}'))
}

// appendPage appends a page without its closing brace.
func appendPage(b []byte, p *memory.Page) []byte {
	b = append(b, `{"id":`...)
	b = jsonx.AppendString(b, p.ID)
	b = append(b, `,"subject":`...)
	b = jsonx.AppendString(b, p.Subject)
	b = append(b, `,"title":`...)
	b = appendOptional(b, p.Title)
	b = append(b, `,"body":`...)
	b = jsonx.AppendString(b, p.Body)
	b = append(b, `,"snippet":`...)
	b = jsonx.AppendString(b, page.Snippet(p.Body, page.SnippetBytes))
	b = append(b, `,"source":`...)
	b = appendOptional(b, p.Source)
	b = append(b, `,"links":[`...)
	for i := range p.Links {
		b = appendLink(comma(b, i), &p.Links[i])
	}
	b = append(b, `],"citations":[`...)
	for i := range p.Citations {
		b = appendCitation(comma(b, i), &p.Citations[i])
	}
	b = append(b, `],"valid_from":`...)
	b = jsonx.AppendInstant(b, p.Saved.ValidFrom)
	b = append(b, `,"recorded_at":`...)
	b = jsonx.AppendInstant(b, p.Saved.RecordedAt)
	b = append(b, `,"tenant":`...)
	if p.Tenant == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, p.Tenant)
	}
	b = append(b, `,"tx":`...)
	return strconv.AppendUint(b, p.Saved.Tx, 10)
}

func appendLink(b []byte, l *memory.PageLink) []byte {
	b = append(b, `{"target":`...)
	b = jsonx.AppendString(b, l.Target)
	b = append(b, `,"text":`...)
	b = jsonx.AppendString(b, l.Text)
	b = append(b, `,"fact_id":`...)
	return append(jsonx.AppendID(b, l.Fact), '}')
}

func appendCitation(b []byte, c *memory.PageCitation) []byte {
	b = append(b, `{"url":`...)
	b = jsonx.AppendString(b, c.URL)
	b = append(b, `,"quote":`...)
	if c.Quote == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, c.Quote)
	}
	b = append(b, `,"source":`...)
	b = appendOptional(b, c.Source)
	b = append(b, `,"fact_id":`...)
	return append(jsonx.AppendID(b, c.Fact), '}')
}

// appendSaved appends what a save did: which links and citations are new, and
// which are gone.
func appendSaved(b []byte, s *memory.SavedPage) []byte {
	b = append(b, `,"created":`...)
	b = jsonx.AppendBool(b, s.Created)
	b = append(b, `,"added":{"links":`...)
	b = appendObjectsOf(b, s.Asserted, page.References)
	b = append(b, `,"citations":`...)
	b = appendObjectsOf(b, s.Asserted, page.Cites)
	b = append(b, `},"removed":{"links":`...)
	b = appendObjectsOf(b, s.Retracted, page.References)
	b = append(b, `,"citations":`...)
	b = appendObjectsOf(b, s.Retracted, page.Cites)
	b = append(b, `},"written":`...)
	b = appendIDsOf(b, s.Asserted)
	b = append(b, `,"retracted":`...)
	b = appendIDsOf(b, s.Retracted)
	return appendReceipt(b, s.Superseded)
}

func appendObjectsOf(b []byte, facts []fact.Fact, predicate string) []byte {
	b = append(b, '[')
	n := 0
	for i := range facts {
		if facts[i].Predicate == predicate {
			b = jsonx.AppendObject(comma(b, n), facts[i].Object)
			n++
		}
	}
	return append(b, ']')
}

func appendIDsOf(b []byte, facts []fact.Fact) []byte {
	b = append(b, '[')
	for i := range facts {
		b = jsonx.AppendID(comma(b, i), facts[i].ID)
	}
	return append(b, ']')
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, *s)
}
