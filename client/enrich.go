package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// EnrichQuery asks what a batch of statements would meet. Nothing is written.
type EnrichQuery struct {
	Read   `json:"-"`
	Facts  []Assert `json:"facts"`
	Source string   `json:"source,omitempty"` // of the facts that name none
	Mask   string   `json:"mask,omitempty"`   // redact (the default), hash or shift_date
}

// EnrichConflict is a fact that holds and says otherwise.
type EnrichConflict struct {
	Subject    string          `json:"subject"`
	Predicate  string          `json:"predicate"`
	Incoming   json.RawMessage `json:"incoming"`
	Existing   json.RawMessage `json:"existing"`
	ExistingID string          `json:"existing_id"`
}

// Enriched are the statements as they may be written, and what they would meet.
type Enriched struct {
	Meta      `json:"-"`
	Facts     []json.RawMessage `json:"facts"`
	Conflicts []EnrichConflict  `json:"conflicts"`
	Masked    int               `json:"masked"`
	Hints     []string          `json:"warnings"`
}

// Enrich masks personal data in statements and looks for what contradicts them:
// POST /api/enrich.
func (c *Client) Enrich(ctx context.Context, q EnrichQuery) (*Enriched, error) {
	body, err := marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write the facts: %w", err)
	}
	var answer Enriched
	meta, err := c.into(ctx, Call{Method: http.MethodPost, Path: "/api/enrich", Query: q.values(), Body: body}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}
