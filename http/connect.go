package http

import (
	"net"
	"net/http"
	"strings"

	"abagraph/internal/jsonx"
)

// keyPlaceholder stands in every snippet for the key, which is never echoed.
const keyPlaceholder = "<YOUR_API_KEY>"

// connect is GET /api/connect: where things are, and snippets to paste (F-551 to F-556).
// They run as they are, but for the key; absent lists what this server does not have.
func (s *Server) connect(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	c.stand()
	base := site.Base
	c.trace.Name("connect", "static")
	b := append(c.begin(), `{"tenant":`...)
	b = jsonx.AppendString(b, c.tenantName())
	b = jsonx.AppendString(append(b, `,"rest_base":`...), base+"/api")
	if site.MCP {
		b = jsonx.AppendString(append(b, `,"mcp_endpoint":`...), base+mcpPath)
	}
	b = jsonx.AppendString(append(b, `,"stream_endpoint":`...), base+"/api/stream")
	b = jsonx.AppendString(append(b, `,"auth":`...), "Authorization: Bearer "+keyPlaceholder)
	b = append(b, `,"snippets":{"curl":`...)
	b = jsonx.AppendString(b, "curl -H 'Authorization: Bearer "+keyPlaceholder+"' '"+base+"/api/facts?subject=Person:sarah'")
	b = append(b, `,"cli":`...)
	b = jsonx.AppendString(b, "abagraph init --url "+base+" --key '"+keyPlaceholder+"'")
	for _, name := range [...]string{"ts", "agent", "plugin"} {
		text, err := site.Text("snippets/" + name)
		if err != nil {
			return err
		}
		b = append(jsonx.AppendString(append(b, ','), name), ':')
		b = jsonx.AppendString(b, string(text))
	}
	if !site.MCP {
		return c.finish(http.StatusOK, append(b, `},"absent":["mcp_endpoint","mcp_config"]}`...))
	}
	b = appendMCPConfig(append(b, `,"mcp_config":`...), base+mcpPath)
	return c.finish(http.StatusOK, append(b, `},"absent":[]}`...))
}

// appendMCPConfig appends what a host is told to reach the MCP endpoint.
func appendMCPConfig(b []byte, endpoint string) []byte {
	b = append(b, `{"mcpServers":{"abagraph":{"type":"streamable-http","url":`...)
	b = jsonx.AppendString(b, endpoint)
	b = append(b, `,"headers":{"Authorization":`...)
	b = jsonx.AppendString(b, "Bearer "+keyPlaceholder)
	return append(b, `},"tools":["build_context","digest","remember","recall","whats_changed"]}}}`...)
}

// baseURL derives the server's address from the Host that the caller used:
// https for a public name, http for this machine, an address, or a port of its
// own.
func (s *Server) baseURL(host string) string {
	if !plainHost(host) {
		host = s.config.Bind
	}
	name, port := host, ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		name, port = h, p
	}
	if port != "" || isLoopback(strings.ToLower(name)) || net.ParseIP(strings.Trim(name, "[]")) != nil {
		return "http://" + host
	}
	return "https://" + host
}

// plainHost reports whether a host may stand in a snippet as it is.
func plainHost(host string) bool {
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(".-:[]_", c) >= 0:
		default:
			return false
		}
	}
	return host != ""
}

// index is GET /api and /v1: what there is, for a caller with a key.
func (s *Server) index(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	c.stand()
	c.trace.Name("index", "static")
	b := append(c.begin(), `{"name":"abagraph","version":`...)
	b = jsonx.AppendString(b, s.config.Version)
	b = append(b, `,"rest_base":"/api","endpoints":[`...)
	n := 0
	for _, rt := range s.table() {
		if rt.access != discovery {
			b = jsonx.AppendString(comma(b, n), rt.method+" "+rt.template)
			n++
		}
	}
	return c.finish(http.StatusOK, append(b, ']', '}'))
}
