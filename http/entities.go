package http

import (
	"net/http"
	"net/url"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// list reads the parameters of a list of names (C-58).
func (c *call) list() (*memory.List, error) {
	l := &memory.List{Read: c.travel(), Limit: c.query.limit()}
	l.After = c.query.name("after")
	return l, c.query.done()
}

// next tells where the list goes on, if it does.
func (c *call) next(more bool, last string) {
	if more {
		c.w.Header()[headerNext] = []string{url.QueryEscape(last)}
	}
}

// listEntities is GET /api/entities.
func (s *Server) listEntities(c *call) error {
	l, err := c.list()
	if err != nil {
		return err
	}
	list, more, meta, err := s.config.Memory.Entities(c.r.Context(), c.caller, l, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warnHeader()
	b := append(c.begin(), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntity(append(b, '{'), list[i].ID)
		b = append(b, `,"fact_count":`...)
		b = append(strconv.AppendInt(b, int64(list[i].FactCount), 10), '}')
	}
	if len(list) > 0 {
		c.next(more, list[len(list)-1].ID)
	}
	return c.finish(http.StatusOK, append(b, ']'))
}

// appendEntity appends what a reference tells: its kind is null and its name
// the whole, where it is none of the form Type:id.
func appendEntity(b []byte, id string) []byte {
	b = append(b, `"id":`...)
	b = jsonx.AppendString(b, id)
	kind, name, ok := fact.SplitEntity(id)
	b = append(b, `,"kind":`...)
	if ok {
		b = jsonx.AppendString(b, kind)
	} else {
		b, name = append(b, "null"...), id
	}
	b = append(b, `,"name":`...)
	return jsonx.AppendString(b, name)
}

// getEntity is GET /api/entities/:id.
func (s *Server) getEntity(c *call) error {
	read := c.travel()
	if err := c.query.done(); err != nil {
		return err
	}
	page, meta, err := s.config.Memory.Entity(c.r.Context(), c.caller, read, c.rest("/api/entities/"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	if page.Cut {
		c.input.Warn("facts holds the newest " + strconv.Itoa(len(page.Facts)) + " only: list the others with /api/facts?subject=")
	}
	b := appendEntity(append(c.begin(), '{'), page.ID)
	b = append(b, `,"facts":`...)
	b = jsonx.AppendFacts(b, page.Facts)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// listPredicates is GET /api/predicates.
func (s *Server) listPredicates(c *call) error {
	l, err := c.list()
	if err != nil {
		return err
	}
	list, more, meta, err := s.config.Memory.Predicates(c.r.Context(), c.caller, l, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warnHeader()
	if len(list) > 0 {
		c.next(more, list[len(list)-1])
	}
	return c.finish(http.StatusOK, jsonx.AppendStrings(c.begin(), list))
}
