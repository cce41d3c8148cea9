package http

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"abagraph/fact"
	"abagraph/http/discover"
)

// Kinds of the pages by which a server describes itself.
const (
	kindText     = "text/plain; charset=utf-8"
	kindMarkdown = "text/markdown; charset=utf-8"
	kindHTML     = "text/html; charset=utf-8"
	kindXML      = "application/xml"
	kindLinkset  = "application/linkset+json"
	kindJSON     = "application/json"
)

// sitePage is one page by which a server describes itself. They are public, hold nothing
// of anyone's data, and depend on nothing but the server and the Host.
type sitePage struct {
	path, kind string
	write      func(*discover.Site) ([]byte, error)
}

func text(name string) func(*discover.Site) ([]byte, error) {
	return func(s *discover.Site) ([]byte, error) { return s.Text(name) }
}

// sitePages are those that have one form.
func sitePages() []sitePage {
	return []sitePage{
		{"/llms.txt", kindMarkdown, text("llms.txt")},
		{"/api/llms.txt", kindMarkdown, text("llms.txt")},
		{"/docs/llms.txt", kindMarkdown, text("docs-llms.txt")},
		{"/llms-full.txt", kindMarkdown, (*discover.Site).Full},
		{"/index.md", kindMarkdown, text("index.md")},
		{"/auth.md", kindMarkdown, text("auth.md")},
		{"/pricing.md", kindMarkdown, text("pricing.md")},
		{"/robots.txt", kindText, text("robots.txt")},
		{"/sitemap.xml", kindXML, (*discover.Site).Sitemap},
		{"/docs", kindHTML, (*discover.Site).Reference},
		{"/openapi.json", kindJSON, func(s *discover.Site) ([]byte, error) { return s.API.JSON, nil }},
		{"/.well-known/api-catalog", kindLinkset, (*discover.Site).Catalog},
		{"/.well-known/agent-card.json", kindJSON, (*discover.Site).AgentCard},
		{"/.well-known/agent.json", kindJSON, (*discover.Site).AgentCard},
		{"/.well-known/mcp/server-card.json", kindJSON, (*discover.Site).ServerCard},
	}
}

// siteRoutes are the routes of the pages.
func (s *Server) siteRoutes() []route {
	list := []route{
		{method: http.MethodGet, template: "/", access: public, handle: s.home},
		{method: http.MethodGet, template: "/docs/:page", access: public, handle: s.document},
	}
	for _, p := range sitePages() {
		list = append(list, route{method: http.MethodGet, template: p.path, access: public, handle: func(c *call) error {
			if err := c.noParameters(); err != nil {
				return err
			}
			return c.showPage(p)
		}})
	}
	return list
}

// noParameters refuses every parameter, explain too: there is no envelope to put it in.
func (c *call) noParameters() error {
	if c.trace != nil {
		return fact.Invalid("explain", "is not known here")
	}
	return c.query.done()
}

// site is what the pages are written from.
func (c *call) site() (*discover.Site, error) {
	d, err := c.server.described()
	if err != nil {
		return nil, err
	}
	return &discover.Site{
		Base: c.server.baseURL(c.r.Host), Version: c.server.config.Version, MCP: c.server.config.MCP != nil,
		Tools: c.server.config.Tools, API: d.api, Pages: d.pages,
	}, nil
}

func (c *call) showPage(p sitePage) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	b, err := p.write(site)
	if err != nil {
		return err
	}
	return c.show(p.kind, b)
}

// show sends a page that anyone may keep for five minutes, or tells that the caller has
// it already.
func (c *call) show(kind string, b []byte) error {
	sum := sha256.Sum256(b)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	h := c.w.Header()
	h["Content-Type"] = []string{kind}
	h["Cache-Control"] = []string{"public, max-age=300"}
	h["Etag"] = []string{tag}
	h["X-Content-Type-Options"] = noSniff
	if kind == kindHTML {
		h["Content-Security-Policy"] = []string{discover.ContentSecurity}
	}
	if sees(c.r.Header.Values("If-None-Match"), tag) {
		delete(h, "Content-Type")
		c.status = http.StatusNotModified
		c.w.WriteHeader(c.status)
		return nil
	}
	c.status = http.StatusOK
	c.w.WriteHeader(c.status)
	_, _ = c.w.Write(b) // a write that fails has lost its reader
	return nil
}

// sees reports whether a caller has the page with this tag.
func sees(values []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(values, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == tag || one == "*" {
			return true
		}
	}
	return false
}

// home is GET /: the description as JSON for ?mode=agent, the reference for browsers, and
// Markdown for everyone else.
func (s *Server) home(c *call) error {
	mode, given := c.query.text("mode")
	if err := c.noParameters(); err != nil {
		return err
	}
	if given && mode != "agent" {
		return fact.Invalid("mode", "has no such value (agent)")
	}
	if given {
		return c.showPage(sitePage{kind: kindJSON, write: (*discover.Site).Agent})
	}
	c.w.Header().Add("Vary", "Accept")
	accept := c.r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") && !strings.Contains(accept, "text/markdown") {
		c.w.Header().Set("Location", "/docs")
		c.status = http.StatusFound
		c.w.WriteHeader(c.status)
		return nil
	}
	return c.showPage(sitePage{kind: kindMarkdown, write: text("index.md")})
}

// document is GET /docs/:page: a document as it was written.
func (s *Server) document(c *call) error {
	if err := c.noParameters(); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	p, ok := site.Page(c.param("page"))
	if !ok {
		return fact.Errorf(fact.NotFound, "no document of this name: /docs/llms.txt lists them")
	}
	return c.show(kindMarkdown, []byte(p.Text))
}
