package http

import (
	"abagraph/http/discover"
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

// self is what the server knows of itself. It is made when it is first asked for.
type self struct {
	api   *openapi.Document
	pages []discover.Page
}

// describe makes the OpenAPI document of the routes that this server has, and reads the
// documents that it was given.
func (s *Server) describe() (*self, error) {
	spec, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	d := &self{}
	if d.api, err = spec.Document(s.Described(), s.config.Version); err != nil {
		return nil, err
	}
	if s.config.Docs == nil {
		return d, nil
	}
	if d.pages, err = discover.Pages(s.config.Docs); err != nil {
		return nil, err
	}
	return d, nil
}

// discoveryLinks are sent with every public answer (F-550), so that a program finds the
// description from wherever it begins.
var discoveryLinks = []string{`</sitemap.xml>; rel="sitemap", </index.md>; rel="alternate"; type="text/markdown", ` +
	`</openapi.json>; rel="service-desc", </.well-known/api-catalog>; rel="api-catalog", </llms.txt>; rel="describedby"`}
