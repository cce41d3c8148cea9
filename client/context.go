package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// ContextQuery asks for what a task should know. Fields at their zero value are
// left to the server's defaults.
type ContextQuery struct {
	Read             `json:"-"`
	Goal             string   `json:"goal,omitempty"`
	Seeds            []string `json:"seeds,omitempty"`
	Project          string   `json:"project,omitempty"`
	MaxFacts         *int     `json:"max_facts,omitempty"` // 0 … 1,000; nil = 64, or 1,000 with a budget
	MaxPages         *int     `json:"max_pages,omitempty"` // 0 … 100; nil = 8
	TokenBudget      int      `json:"token_budget,omitempty"`
	ClusterThreshold float64  `json:"cluster_threshold,omitempty"`
	IncludeRecent    *bool    `json:"include_recent,omitempty"`    // nil = true
	IncludeConflicts *bool    `json:"include_conflicts,omitempty"` // nil = true
	IncludeRetracted bool     `json:"include_retracted,omitempty"`
	Style            string   `json:"style,omitempty"` // claude, openai or generic
	Role             string   `json:"role,omitempty"`
}

// Values returns the query parameters.
func (q ContextQuery) Values() url.Values { return q.values() }

// Body returns the body of the request.
func (q ContextQuery) Body() ([]byte, error) {
	body, err := marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write the request for a packet: %w", err)
	}
	return body, nil
}

// PacketCorroboration tells what other facts say about one.
type PacketCorroboration struct {
	Agree       int      `json:"agree"`
	Conflict    int      `json:"conflict"`
	Sources     int      `json:"sources"`
	SourceNames []string `json:"source_names"`
}

// Snippet is a page of a packet.
type Snippet struct {
	ID      string  `json:"id"`
	Subject string  `json:"subject"`
	Title   string  `json:"title"`
	Body    string  `json:"body"`
	Snippet string  `json:"snippet"`
	Source  *string `json:"source"`
}

// PacketWarning says what a reader of a packet should know.
type PacketWarning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ContextPacket is what a task should know, in one piece.
type ContextPacket struct {
	Meta          `json:"-"`
	Kind          string                `json:"kind"`
	Summary       string                `json:"summary"`
	SystemPrompt  string                `json:"system_prompt"`
	Entities      []string              `json:"entities"`
	Facts         []Fact                `json:"facts"`
	Pages         []Snippet             `json:"pages"`
	Tokens        int                   `json:"tokens"`
	TotalTokens   int                   `json:"total_tokens"`
	PromptTokens  int                   `json:"prompt_tokens"`
	Collapsed     int                   `json:"collapsed"`
	Dropped       int                   `json:"dropped"`
	Corroboration []PacketCorroboration `json:"corroboration"` // beside Facts
	DerivedFacts  []Fact                `json:"derived_facts"`
	Notes         []PacketWarning       `json:"warnings"`
	Digest        string                `json:"digest"`
	AtTx          uint64                `json:"tx"`
}

// Context assembles a context packet: POST /api/context.
func (c *Client) Context(ctx context.Context, q ContextQuery) (*ContextPacket, error) {
	body, err := q.Body()
	if err != nil {
		return nil, err
	}
	var packet ContextPacket
	meta, err := c.into(ctx, Call{Method: http.MethodPost, Path: "/api/context", Query: q.Values(), Body: body}, &packet)
	if err != nil {
		return nil, err
	}
	packet.Meta = meta
	return &packet, nil
}
