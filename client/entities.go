package client

import (
	"context"
	"net/http"
	"net/url"
)

// Entity is a subject with the number of its facts that hold.
type Entity struct {
	ID        string  `json:"id"`
	Kind      *string `json:"kind"`
	Name      string  `json:"name"`
	FactCount int     `json:"fact_count"`
}

// Listing is a page of names in the order of their bytes.
type Listing struct {
	Read
	After string // lists those greater than this one
	Limit int    // 0 = the server's default
}

// Values are the parameters of the listing.
func (l Listing) Values() url.Values {
	v := l.values()
	set(v, "after", l.After)
	setInt(v, "limit", l.Limit)
	return v
}

// Entities lists subjects: GET /api/entities.
func (c *Client) Entities(ctx context.Context, l Listing) ([]Entity, error) {
	var list []Entity
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/entities", Query: l.Values()}, &list)
	return list, err
}

// EntityAnswer is one subject with its facts.
type EntityAnswer struct {
	Meta  `json:"-"`
	ID    string  `json:"id"`
	Kind  *string `json:"kind"`
	Name  string  `json:"name"`
	Facts []Fact  `json:"facts"`
}

// Entity reads one subject: GET /api/entities/:id.
func (c *Client) Entity(ctx context.Context, id string, r Read) (*EntityAnswer, error) {
	var answer EntityAnswer
	call := Call{Method: http.MethodGet, Path: "/api/entities/" + url.PathEscape(id), Query: r.values()}
	meta, err := c.into(ctx, call, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// Predicates lists predicates: GET /api/predicates.
func (c *Client) Predicates(ctx context.Context, l Listing) ([]string, error) {
	var list []string
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/predicates", Query: l.Values()}, &list)
	return list, err
}
