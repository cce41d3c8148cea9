package http

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"abagraph/http/discover"
	"abagraph/ingest"
	"abagraph/ingest/connect"
	"abagraph/ingest/trigger"
	"abagraph/internal/events"
	"abagraph/internal/signup"
	"abagraph/internal/span"
	"abagraph/memory"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of a Config.
const (
	DefaultMaxBodyBytes   = 64 << 20
	DefaultMaxUploads     = 4
	DefaultMaxStreams     = 1024
	DefaultTenantStreams  = 256
	DefaultMaxConnections = 10_000
	DefaultKeepAlive      = 15 * time.Second
	DefaultSlowReader     = 10 * time.Second
	DefaultHeaderTimeout  = 10 * time.Second
	DefaultBodyTimeout    = 60 * time.Second
)

// Config is what a Server needs. Memory and Logger are required.
type Config struct {
	// Bind is the address to listen on, such as 127.0.0.1:7700. It decides
	// whether the server counts as bound to loopback (C-42).
	Bind   string
	Memory *memory.Service
	// MCP answers the messages of POST /mcp, which have been let in and carry a
	// memory.Handoff; nil = there is no such route.
	MCP http.Handler
	// Tools are those that MCP lists, for the cards that describe the server.
	Tools []discover.Tool
	// Docs holds the documents that the server hands out, Markdown files in its root;
	// nil = none.
	Docs fs.FS
	// Desk works on what is sent in; nil = one that asks no models.
	Desk *ingest.Desk
	// Connect keeps the connectors; nil = one that calls no one and knows no secret.
	Connect *connect.Service
	// Signups is the list of those who have asked for a key; nil = there is no such route.
	Signups *signup.Book
	// Triggers keeps the triggers; nil = one above Connect.
	Triggers *trigger.Service
	// Logger takes the events, whose names are the records' messages.
	Logger *slog.Logger
	// Tracer keeps what requests do in parts; nil = nobody does.
	Tracer span.Tracer
	// Window is what /api/observability shows; nil shows an empty one.
	Window *events.Window
	// Registry takes the server's metrics and is served at /metrics; nil means
	// a registry of its own.
	Registry *prometheus.Registry
	// Version is told by /api/stats and /api.
	Version string
	// BaseDomain is the domain below which a host's label names a tenant, such
	// as example.com; "" = hosts name none.
	BaseDomain string
	// AllowedOrigins are the origins besides the server's own that browsers may
	// call from, such as https://console.example.com.
	AllowedOrigins []string
	// MaxBodyBytes bounds a request's body, decompressed; 0 = 64 MiB.
	MaxBodyBytes int64
	// MaxUploads bounds the large bodies that are read at the same time; others
	// wait. 0 = 4.
	MaxUploads int
	// MaxConnections bounds the open connections; 0 = 10,000.
	MaxConnections int
	// MaxStreams bounds the open streams of this node; 0 = 1,024. They never take more
	// than half of the connections.
	MaxStreams int
	// TenantStreams bounds those of one tenant; 0 = 256.
	TenantStreams int
	// MaxSending bounds the bytes of large answers that are being sent; 0 = 512 MiB.
	MaxSending int64
	// KeepAlive is the time between the comments on a quiet stream; 0 = 15 s.
	KeepAlive time.Duration
	// SlowReader is how long a stream's reader may leave a message unread
	// before it is cut off; 0 = 10 s.
	SlowReader time.Duration
}

func (c *Config) complete() error {
	if c.Memory == nil || c.Logger == nil {
		return errors.New("http: Memory and Logger are required")
	}
	fill(&c.MaxBodyBytes, DefaultMaxBodyBytes)
	fill(&c.MaxUploads, DefaultMaxUploads)
	fill(&c.MaxConnections, DefaultMaxConnections)
	fill(&c.MaxSending, DefaultMaxSending)
	fill(&c.MaxStreams, DefaultMaxStreams)
	fill(&c.TenantStreams, DefaultTenantStreams)
	fill(&c.KeepAlive, DefaultKeepAlive)
	fill(&c.SlowReader, DefaultSlowReader)
	if c.Desk == nil {
		c.Desk = &ingest.Desk{Memory: c.Memory}
	}
	if c.Window == nil {
		c.Window = events.NewWindow(nil)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	c.BaseDomain = strings.ToLower(strings.Trim(c.BaseDomain, "."))
	for i, origin := range c.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" && u.Path != "/" {
			return fmt.Errorf("http: an allowed origin must look like https://console.example.com, not %q", origin)
		}
		c.AllowedOrigins[i] = strings.ToLower(u.Scheme + "://" + u.Host)
	}
	if !c.Memory.AuthEnabled() && !c.onLoopback() {
		return fmt.Errorf("http: refusing to listen on %s without a key: anyone could read and write; set ABAGRAPH_ADMIN_KEY or bind to 127.0.0.1", c.Bind)
	}
	return nil
}

func fill[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// onLoopback reports whether the bind address can be reached from this machine
// only.
func (c *Config) onLoopback() bool {
	host, _, err := net.SplitHostPort(c.Bind)
	if err != nil {
		host = c.Bind
	}
	return isLoopback(strings.ToLower(host))
}

// isLoopback reports whether a host without its port names this machine.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
