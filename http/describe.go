package http

import (
	"net/http"

	"abagraph/http/openapi"
)

// Described lists the routes of the server as the description of the API knows them.
func (s *Server) Described() []openapi.Route {
	table := s.table()
	list := make([]openapi.Route, 0, len(table))
	for _, rt := range table {
		access := openapi.Keyed
		switch rt.access {
		case public:
			access = openapi.Public
		case discovery:
			access = openapi.Discovery
		}
		list = append(list, openapi.Route{Method: rt.method, Template: rt.template, Access: access})
	}
	return list
}

// describe makes the OpenAPI document of the routes that this server has.
func (s *Server) describe() (*openapi.Document, error) {
	spec, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	return spec.Document(s.Described(), s.config.Version)
}

// discoveryLinks are sent with every public answer (F-550), so that a program finds the
// description from wherever it begins.
var discoveryLinks = []string{`</sitemap.xml>; rel="sitemap", </index.md>; rel="alternate"; type="text/markdown", ` +
	`</openapi.json>; rel="service-desc", </.well-known/api-catalog>; rel="api-catalog", </llms.txt>; rel="describedby"`}

// openAPI is GET /openapi.json.
func (s *Server) openAPI(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	d, err := s.document()
	if err != nil {
		return err
	}
	c.write(http.StatusOK, d.JSON)
	return nil
}
