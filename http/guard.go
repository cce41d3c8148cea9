package http

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"abagraph/fact"
)

// guard judges Host and Origin before anything else is done (C-42), and answers
// preflight requests.
func (c *call) guard() (answered bool, err error) {
	s := c.server
	if s.loopback && !s.expects(hostOf(c.r.Host)) {
		return false, fact.Errorf(fact.Forbidden, "this server is bound to loopback and answers to no other Host")
	}
	origin, given := c.origin()
	if !given {
		return false, nil
	}
	allowed := slices.Contains(s.config.AllowedOrigins, origin)
	if !allowed && !sameOrigin(origin, c.r.Host) {
		return false, fact.Errorf(fact.Forbidden, "requests from this Origin are not allowed")
	}
	if allowed {
		h := c.w.Header()
		h.Set("Access-Control-Allow-Origin", c.r.Header.Get("Origin"))
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
	}
	if c.r.Method == http.MethodOptions && c.r.Header.Get("Access-Control-Request-Method") != "" {
		c.preflight(allowed)
		return true, nil
	}
	return false, nil
}

// expects reports whether a server that is bound to loopback may be spoken to
// by a host's name. A page on the web can give this machine any name of its
// own; where auth is off, only the server's names will do.
func (s *Server) expects(host string) bool {
	base := s.config.BaseDomain
	switch {
	case isLoopback(host):
		return true
	case base == "":
		return false
	case s.config.Memory.AuthEnabled():
		return true
	}
	return host == base || strings.HasSuffix(host, "."+base)
}

const (
	allowedMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS"
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Abagraph-Min-Tx, X-Abagraph-Epoch, " +
		"Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
	exposedHeaders = "X-Abagraph-Tx, X-Abagraph-Now, X-Abagraph-Epoch, X-Abagraph-Warning, X-Abagraph-Backfilled, X-Abagraph-Next, Retry-After"
)

// preflight answers in the same way on every path, so that it tells nothing of
// which ones exist.
func (c *call) preflight(allowed bool) {
	h := c.w.Header()
	if allowed {
		h.Set("Access-Control-Allow-Methods", allowedMethods)
		h.Set("Access-Control-Allow-Headers", allowedHeaders)
		h.Set("Access-Control-Max-Age", "600")
	}
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
}

// origin returns the Origin header in lower case. Several are as foreign as
// null: their list matches nothing.
func (c *call) origin() (string, bool) {
	values := c.r.Header["Origin"]
	if len(values) == 0 {
		return "", false
	}
	return strings.ToLower(strings.Join(values, ",")), true
}

// sameOrigin reports whether an Origin names the host that the request came to.
// The scheme may differ: a proxy may have ended TLS.
func sameOrigin(origin, host string) bool {
	scheme, rest, ok := strings.Cut(origin, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return false
	}
	host = strings.ToLower(host)
	if rest == host {
		return true
	}
	defaultPort := ":80"
	if scheme == "https" {
		defaultPort = ":443"
	}
	return strings.TrimSuffix(rest, defaultPort) == strings.TrimSuffix(host, defaultPort)
}

// hostOf returns a Host header's host: without its port, in lower case, without
// a trailing dot.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// tenantOfHost finds the tenant that a host names below the base domain. ok is
// false for a host below it that can name none: several labels, or a label of
// other characters. The base domain itself, www and api below it, and every
// host outside it name no tenant.
func tenantOfHost(host, base string) (tenant string, ok bool) {
	host = hostOf(host)
	if base == "" || host == base {
		return "", true
	}
	label, below := strings.CutSuffix(host, "."+base)
	if !below || label == "www" || label == "api" {
		return "", true
	}
	if fact.CheckTenant("host", label) != nil {
		return "", false
	}
	return label, true
}
