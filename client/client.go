package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Limits that hold unless an Option says otherwise.
const (
	// DefaultMaxAnswer bounds the bytes of one answer, in bytes.
	DefaultMaxAnswer = 256 << 20
	// DefaultAttempts is how often a call is sent in all.
	DefaultAttempts = 5
	// DefaultWait is the pause before the first repetition; it doubles with
	// each further one, and Retry-After outranks it.
	DefaultWait = 100 * time.Millisecond
	// DefaultTimeout bounds one attempt of a call other than a stream.
	DefaultTimeout = 60 * time.Second

	maxWait = 5 * time.Second
)

// Client calls one server (or one node of a cluster).
type Client struct {
	base      string
	key       string
	tenant    string
	agent     string
	transport *http.Client
	attempts  int
	wait      time.Duration
	timeout   time.Duration
	maxAnswer int64
}

// Option changes how a Client works.
type Option func(*Client)

// WithKey sends the API key as bearer token with each call.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithTenant names the tenant of each call, which an admin may (C-40).
func WithTenant(tenant string) Option { return func(c *Client) { c.tenant = tenant } }

// WithTransport sends through another HTTP client. It must not bound the whole
// of a call by a timeout of its own, or streams end with it.
func WithTransport(transport *http.Client) Option {
	return func(c *Client) { c.transport = transport }
}

// WithRetry sends a call at most attempts times in all, pausing wait before the
// second one and longer before each further one. One attempt means no
// repetition.
func WithRetry(attempts int, wait time.Duration) Option {
	return func(c *Client) { c.attempts, c.wait = max(attempts, 1), wait }
}

// WithTimeout bounds each attempt of a call other than a stream; 0 = no bound.
func WithTimeout(timeout time.Duration) Option { return func(c *Client) { c.timeout = timeout } }

// WithMaxAnswer bounds the bytes of one answer.
func WithMaxAnswer(bytes int64) Option { return func(c *Client) { c.maxAnswer = bytes } }

// WithAgent sets the User-Agent.
func WithAgent(agent string) Option { return func(c *Client) { c.agent = agent } }

// New makes a Client for a base URL such as http://127.0.0.1:8080. Trailing
// slashes and a trailing /api are taken off.
func New(base string, options ...Option) (*Client, error) {
	clean := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(base), "/"), "/api")
	u, err := url.Parse(clean)
	if err != nil {
		return nil, fmt.Errorf("read the base URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the base URL must be like http://127.0.0.1:8080, not %q", base)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the base URL must have neither user, query nor fragment")
	}
	c := &Client{
		base: clean, agent: "abagraph-client", attempts: DefaultAttempts, wait: DefaultWait,
		timeout: DefaultTimeout, maxAnswer: DefaultMaxAnswer,
	}
	for _, option := range options {
		option(c)
	}
	if c.transport == nil {
		c.transport = &http.Client{Transport: newTransport()}
	}
	return c, nil
}

// Base returns the base URL without a trailing slash.
func (c *Client) Base() string { return c.base }

// Close lets go of idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	t.ResponseHeaderTimeout = 0 // the context of each attempt bounds it
	return t
}
