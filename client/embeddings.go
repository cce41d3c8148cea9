package client

import (
	"context"
	"net/http"
)

// Embeddings tells how many facts have a vector of the present model. The figures
// and Job are nil where no provider makes vectors.
type Embeddings struct {
	Meta     `json:"-"`
	Provider string  `json:"provider"`
	Enabled  bool    `json:"enabled"`
	Model    *string `json:"model"`
	Dim      *int    `json:"dim"`
	Facts    *uint64 `json:"facts"`
	Embedded *uint64 `json:"embedded"`
	Missing  *uint64 `json:"missing"`
	// Job is how far the node that was asked is with those that have none.
	Job *EmbedJob `json:"job"`
}

// EmbedJob is the state of one node's job. Embedded and Unusable count statements of
// all tenants since the node's start, and are 0 for a tenant's key; LastErrorAt is in
// milliseconds since 1970.
type EmbedJob struct {
	Running     bool    `json:"running"`
	Leads       bool    `json:"leads"`
	ThroughTx   uint64  `json:"through_tx"`
	Embedded    uint64  `json:"embedded"`
	Unusable    uint64  `json:"unusable"`
	LastError   *string `json:"last_error"`
	LastErrorAt *int64  `json:"last_error_at"`
}

// Embeddings reads the state of the vectors: GET /api/embeddings.
func (c *Client) Embeddings(ctx context.Context, r Read) (*Embeddings, error) {
	return c.embeddings(ctx, Call{Method: http.MethodGet, Path: "/api/embeddings", Query: r.values()})
}

// RunEmbedding has the node that is asked look for facts without a vector: POST
// /api/embeddings. It needs the admin key.
func (c *Client) RunEmbedding(ctx context.Context) (*Embeddings, error) {
	return c.embeddings(ctx, Call{Method: http.MethodPost, Path: "/api/embeddings"})
}

func (c *Client) embeddings(ctx context.Context, call Call) (*Embeddings, error) {
	var e Embeddings
	meta, err := c.into(ctx, call, &e)
	if err != nil {
		return nil, err
	}
	e.Meta = meta
	return &e, nil
}
