package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Compacted is a list of facts that fits into a budget, the best first.
type Compacted struct {
	Meta        `json:"-"`
	Facts       []Fact `json:"facts"`
	Tokens      int    `json:"tokens"`
	TotalTokens int    `json:"total_tokens"`
	Dropped     int    `json:"dropped"`
}

// Compact ranks facts and keeps what fits into a budget of tokens: POST
// /api/compact. It reads and writes nothing.
func (c *Client) Compact(ctx context.Context, facts []Fact, budget int) (*Compacted, error) {
	if facts == nil {
		facts = []Fact{}
	}
	body, err := marshal(struct {
		Facts  []Fact `json:"facts"`
		Budget int    `json:"token_budget"`
	}{facts, budget})
	if err != nil {
		return nil, fmt.Errorf("write the facts: %w", err)
	}
	var answer Compacted
	meta, err := c.into(ctx, Call{Method: http.MethodPost, Path: "/api/compact", Query: url.Values{}, Body: body}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}
