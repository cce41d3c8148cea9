package http

import (
	"net/http"
	"strconv"

	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
)

// registerConnector is POST /api/connectors.
func (s *Server) registerConnector(c *call) error { return s.saveConnector(c, false) }

// replaceConnector is PUT /api/connectors/:name.
func (s *Server) replaceConnector(c *call) error { return s.saveConnector(c, true) }

func (s *Server) saveConnector(c *call, replace bool) error {
	body, err := c.settings()
	if err != nil {
		return err
	}
	k, err := connect.Read(body)
	if err != nil {
		return err
	}
	if err := c.named(k.Name); err != nil {
		return err
	}
	o, err := c.onMain()
	if err != nil {
		return err
	}
	done, result, err := s.connectors.Register(c.r.Context(), c.caller, o, k, replace, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	if done.Differs {
		c.input.Warn("a connector of this name is registered with other settings, and was left as it is: PUT /api/connectors/" + done.Connector.Name + " replaces them")
	}
	if !done.Existed {
		s.config.Logger.Info("abagraph.connector.register", "name", done.Connector.Name, "kind", done.Connector.Kind, "tenant", c.caller.Tenant)
	}
	c.trace.Name("register_connector", "by_predicate index → guard → assert")
	b := done.Connector.AppendShown(c.begin())
	b = jsonx.AppendBool(append(b, `,"existed":`...), done.Existed)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// listConnectors is GET /api/connectors.
func (s *Server) listConnectors(c *call) error {
	read := c.onlyMain(c.read(), ofConnectors)
	if err := c.query.done(); err != nil {
		return err
	}
	rows, meta, err := s.connectors.List(c.r.Context(), c.caller, read, c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	b := append(c.begin(), `{"connectors":[`...)
	for i := range rows {
		k := rows[i].Connector
		b = jsonx.AppendString(append(comma(b, i), `{"name":`...), k.Name)
		b = jsonx.AppendString(append(b, `,"kind":`...), k.Kind.String())
		b = jsonx.AppendString(append(b, `,"label":`...), k.Label)
		b = appendText(append(b, `,"url":`...), k.URL)
		b = jsonx.AppendString(append(b, `,"subject":`...), k.Mapping.Subject)
		b = strconv.AppendInt(append(b, `,"ingested":`...), int64(rows[i].Ingested), 10)
		b = append(b, '}')
	}
	return c.finish(http.StatusOK, append(b, `]}`...))
}

// appendText appends a text, or null for none.
func appendText(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, text)
}

// getConnector is GET /api/connectors/:name.
func (s *Server) getConnector(c *call) error {
	read := c.onlyMain(c.read(), ofConnectors)
	if err := c.query.done(); err != nil {
		return err
	}
	k, meta, err := s.connectors.Show(c.r.Context(), c.caller, read, c.param("name"), c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	b := k.AppendShown(c.begin())
	b = jsonx.AppendString(append(b, `,"subject":`...), k.Mapping.Subject)
	b = strconv.AppendInt(append(b, `,"ingested":`...), int64(k.Ingested), 10)
	b = jsonx.AppendFacts(append(b, `,"recent":`...), k.Recent)
	b = appendText(append(b, `,"state":{"cursor":`...), k.State.Cursor)
	b = appendText(append(b, `,"problem":`...), k.State.Problem)
	b = append(b, `,"since":`...)
	if k.State.Since.Given() {
		b = jsonx.AppendInstant(b, k.State.Since)
	} else {
		b = append(b, "null"...)
	}
	return c.finish(http.StatusOK, append(b, `}}`...))
}

// deleteConnector is DELETE /api/connectors/:name.
func (s *Server) deleteConnector(c *call) error {
	o, err := c.bareOnMain()
	if err != nil {
		return err
	}
	k, result, err := s.connectors.Delete(c.r.Context(), c.caller, o, c.param("name"), c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	return c.deleted(k.Name, result.Tx)
}

// appendDelivered appends what became of a delivery without the closing brace.
func appendDelivered(b []byte, k *connect.Connector, r *connect.Receipt) []byte {
	return appendDelivery(jsonx.AppendString(append(b, `{"connector":`...), k.Name), r)
}

func appendDelivery(b []byte, r *connect.Receipt) []byte {
	for _, count := range [...]struct {
		name string
		n    int
	}{
		{"asserted", r.Asserted}, {"held", r.Held}, {"superseded", r.Superseded}, {"facts", r.Asserted + r.Held}, {"duplicates", r.Duplicates},
		{"records", r.Records}, {"skipped", r.Skipped}, {"ignored", r.Ignored}, {"pii_masked", r.Masked}, {"batches", r.Batches},
	} {
		b = append(jsonx.AppendString(append(b, ','), count.name), ':')
		b = strconv.AppendInt(b, int64(count.n), 10)
	}
	b = append(b, `,"problems":[`...)
	for i := range r.Problems {
		p := &r.Problems[i]
		b = strconv.AppendInt(append(comma(b, i), `{"line":`...), p.Line, 10)
		b = jsonx.AppendString(append(b, `,"reason":`...), p.Reason)
		b = append(appendText(append(b, `,"field":`...), p.Field), '}')
	}
	return append(b, ']')
}
