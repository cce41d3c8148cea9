package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/ingest"
	"abagraph/internal/jsonx"
)

// scrape is POST /api/digest/scrape.
func (s *Server) scrape(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	site, err := ingest.ReadSite(&c.input, body)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	c.patience(ingest.ReadTime)
	r, result, err := s.config.Desk.Scrape(c.r.Context(), c.caller, o, site, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	s.config.Logger.Info("abagraph.scrape", "scraper", site.Scraper.Provider+" key=***redacted***", "provider", site.Scraper.Provider, "domain", r.Host,
		"bytes", r.Bytes, "extract_model", site.Extract.Config, "tenant", c.caller.Tenant)
	status, b := http.StatusOK, c.begin()
	if r.Job != nil {
		status, b = http.StatusAccepted, appendJob(b, r.Job)
	} else {
		b = strconv.AppendUint(append(appendDigested(b, r.Receipt), `,"tx":`...), result.Tx, 10)
	}
	b = jsonx.AppendString(append(b, `,"brand":`...), r.Brand)
	b = jsonx.AppendString(append(b, `,"label":`...), r.Label)
	b = append(b, `,"recalled":[`...)
	for i := range r.Recalled {
		f := &r.Recalled[i]
		b = jsonx.AppendString(append(comma(b, i), `{"subject":`...), f.Subject)
		b = jsonx.AppendString(append(b, `,"predicate":`...), f.Predicate)
		b = jsonx.AppendObject(append(b, `,"object":`...), f.Object)
		b = append(jsonx.AppendFloat(append(b, `,"confidence":`...), f.Confidence), '}')
	}
	return c.finish(status, append(c.warnField(append(b, ']')), '}'))
}
