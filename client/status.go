package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Stats counts facts by status.
type Stats struct {
	Meta  `json:"-"`
	Facts struct {
		Active     uint64 `json:"active"`
		Candidate  uint64 `json:"candidate"`
		Superseded uint64 `json:"superseded"`
		Retracted  uint64 `json:"retracted"`
		Total      uint64 `json:"total"`
	} `json:"facts"`
	Entities   uint64 `json:"entities"`
	Predicates uint64 `json:"predicates"`
	Tenants    uint64 `json:"tenants"`
	Tenant     string `json:"tenant"`
	Version    string `json:"version"`
}

// Stats counts what the caller may see: GET /api/stats.
func (c *Client) Stats(ctx context.Context, r Read) (*Stats, error) {
	var s Stats
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/stats", Query: r.values()}, &s)
	if err != nil {
		return nil, err
	}
	s.Meta = meta
	return &s, nil
}

// Health asks whether the process lives: GET /api/health. It needs no key.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.Do(ctx, Call{Method: http.MethodGet, Path: "/api/health", Once: true})
	return err
}

// Ready asks whether the node can answer: GET /api/ready. The answer is the
// server's JSON; a node that is not ready answers 503, an *Error.
func (c *Client) Ready(ctx context.Context) (json.RawMessage, error) {
	answer, err := c.Do(ctx, Call{Method: http.MethodGet, Path: "/api/ready", Once: true})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Connect holds endpoints and snippets to paste; no key is ever in it.
type Connect struct {
	Tenant         string          `json:"tenant"`
	RestBase       string          `json:"rest_base"`
	MCPEndpoint    string          `json:"mcp_endpoint"`
	StreamEndpoint string          `json:"stream_endpoint"`
	Auth           string          `json:"auth"`
	Snippets       json.RawMessage `json:"snippets"`
}

// Connect reads how to connect: GET /api/connect.
func (c *Client) Connect(ctx context.Context) (*Connect, error) {
	var answer Connect
	if _, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/connect"}, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}
