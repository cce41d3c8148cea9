package discover

import (
	"encoding/xml"
	"fmt"
	"slices"

	"abagraph/http/openapi"
)

// object is a short name for one of JSON, in order.
var object = openapi.NewMap

// told is the order in which the documents name the tools.
var told = [...]string{"digest", "remember", "recall", "recall_as_of", "whats_changed", "build_context", "explain_fact"}

// ToolNames names the tools as the documents do, and then those that they do not know.
func (s *Site) ToolNames() []string {
	left := make([]string, 0, len(s.Tools))
	for _, t := range s.Tools {
		left = append(left, t.Name)
	}
	names := make([]string, 0, len(left))
	for _, name := range told {
		if at := slices.Index(left, name); at >= 0 {
			names, left = append(names, name), slices.Delete(left, at, at+1)
		}
	}
	return append(names, left...)
}

func write(v any) ([]byte, error) {
	b, err := openapi.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	return b, nil
}

// Agent is GET /?mode=agent: everything that a program needs to begin (F-539).
func (s *Site) Agent() ([]byte, error) {
	m := object(
		"name", "abagraph", "description", Description, "version", s.Version, "url", s.Base,
		"docs", s.Base+"/llms-full.txt", "llms_txt", s.Base+"/llms.txt", "openapi", s.Base+"/openapi.json",
		"auth", object("type", "bearer", "header", "Authorization: Bearer <tenant-key>", "guide", s.Base+"/auth.md",
			"note", "tenancy is subdomain-bound; unauthenticated /api returns 401 with WWW-Authenticate"),
	)
	if s.MCP {
		m.Set("mcp", object("transport", "http-jsonrpc", "endpoint", s.Base+"/mcp", "card", s.Base+"/.well-known/mcp/server-card.json", "tools", s.ToolNames()))
	}
	m.Set("endpoints", object("context", "POST /api/context {seeds[],goal,token_budget}", "facts", "GET/POST /api/facts", "search", "GET /api/search", "stream", "GET /api/stream (SSE)"))
	m.Set("capabilities", Capabilities)
	return write(m)
}

// ServerCard is the card of the MCP server (F-542).
func (s *Site) ServerCard() ([]byte, error) {
	tools := make([]any, 0, len(s.Tools))
	for _, t := range s.Tools {
		tools = append(tools, object("name", t.Name, "description", t.Description))
	}
	return write(object("name", "abagraph", "description", Description, "version", s.Version, "serverUrl", s.Base+"/mcp", "transport", "http", "tools", tools))
}

// AgentCard describes the service as an agent whose skills are the tools (F-543). It is
// of the form of A2A cards; the protocol that it speaks is MCP.
func (s *Site) AgentCard() ([]byte, error) {
	skills := make([]any, 0, len(s.Tools))
	for _, t := range s.Tools {
		skills = append(skills, object("id", t.Name, "name", t.Title, "description", t.Description, "tags", []any{"memory"}))
	}
	return write(object(
		"protocolVersion", "0.3.0", "name", "abagraph", "description", Description, "url", s.Base+"/mcp", "preferredTransport", "JSONRPC", "version", s.Version,
		"documentationUrl", s.Base+"/llms-full.txt",
		"provider", object("organization", "abagraph", "url", s.Base),
		"capabilities", object("streaming", true, "pushNotifications", false, "stateTransitionHistory", false),
		"securitySchemes", object("bearer", object("type", "http", "scheme", "bearer")),
		"security", []any{object("bearer", []any{})},
		"defaultInputModes", []any{"application/json"}, "defaultOutputModes", []any{"application/json"},
		"skills", skills,
	))
}

// Catalog is the API catalogue of RFC 9727 (F-545).
func (s *Site) Catalog() ([]byte, error) {
	link := func(href, kind string) []any { return []any{object("href", s.Base+href, "type", kind)} }
	return write(object("linkset", []any{object(
		"anchor", s.Base,
		"service-desc", link("/openapi.json", "application/openapi+json"),
		"service-doc", link("/llms-full.txt", "text/markdown"),
		"status", link("/api/health", "application/json"),
	)}))
}

// Sitemap lists the public pages.
func (s *Site) Sitemap() ([]byte, error) {
	type place struct {
		Loc string `xml:"loc"`
	}
	type set struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []place  `xml:"url"`
	}
	var list set
	for _, p := range []string{"/", "/index.md", "/docs", "/llms.txt", "/llms-full.txt", "/docs/llms.txt", "/openapi.json", "/auth.md", "/pricing.md"} {
		list.URLs = append(list.URLs, place{s.Base + p})
	}
	for _, p := range s.Pages {
		list.URLs = append(list.URLs, place{s.Base + "/docs/" + p.Name})
	}
	b, err := xml.MarshalIndent(list, "", " ")
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	return append([]byte(xml.Header), append(b, '\n')...), nil
}
