package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"abagraph/fact"
)

// Citation is a source that a page cites, with what it says.
type Citation struct {
	URL   string `json:"url"`
	Quote string `json:"quote,omitempty"`
}

// PageDraft is a page to save, whole: what it leaves out is gone afterwards.
type PageDraft struct {
	Title     string     `json:"title,omitempty"`
	Body      string     `json:"body"`
	Source    *string    `json:"source,omitempty"` // nil = wiki:<id of the page>
	Citations []Citation `json:"citations,omitempty"`
}

// PageLink is a link of a body; FactID is nil where no fact stands for it at the
// time that is read.
type PageLink struct {
	Target string  `json:"target"`
	Text   string  `json:"text"`
	FactID *string `json:"fact_id"`
}

// PageCitation is a source that a page cites.
type PageCitation struct {
	URL    string  `json:"url"`
	Quote  *string `json:"quote"`
	Source *string `json:"source"`
	FactID *string `json:"fact_id"`
}

// Page is a page as it reads at one point of both times.
type Page struct {
	Meta       `json:"-"`
	ID         string         `json:"id"`
	Subject    string         `json:"subject"`
	Title      *string        `json:"title"`
	Body       string         `json:"body"`
	Snippet    string         `json:"snippet"`
	Source     *string        `json:"source"`
	Links      []PageLink     `json:"links"`
	Citations  []PageCitation `json:"citations"`
	ValidFrom  *fact.Instant  `json:"valid_from"`
	RecordedAt *fact.Instant  `json:"recorded_at"`
	Tenant     *string        `json:"tenant"`
	SavedTx    uint64         `json:"tx"` // of its body
	Hints      []string       `json:"warnings"`
}

// PageChange lists links and citations by what they lead to.
type PageChange struct {
	Links     []string `json:"links"`
	Citations []string `json:"citations"`
}

// SavedPage is a page with what its save did. A link or citation that the page
// does not have any more was retracted, and is in Removed.
type SavedPage struct {
	Page
	Created       bool       `json:"created"`
	Added         PageChange `json:"added"`
	Removed       PageChange `json:"removed"`
	Written       []string   `json:"written"`
	Retracted     []string   `json:"retracted"`
	Superseded    int        `json:"superseded"`
	SupersededIDs []string   `json:"superseded_ids"`
	Masked        int        `json:"pii_masked"` // personal data that was masked before the save
}

// PagePath is the path of the page about an entity.
func PagePath(subject string) string { return "/api/pages/" + url.PathEscape(subject) }

// Page reads the page about an entity: GET /api/pages/:subject.
func (c *Client) Page(ctx context.Context, subject string, r Read) (*Page, error) {
	var p Page
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: PagePath(subject), Query: r.values()}, &p)
	if err != nil {
		return nil, err
	}
	p.Meta = meta
	return &p, nil
}

// SavePage saves the page about an entity: PUT /api/pages/:subject.
func (c *Client) SavePage(ctx context.Context, subject string, p PageDraft, w Write) (*SavedPage, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	var saved SavedPage
	meta, err := c.into(ctx, w.call(http.MethodPut, PagePath(subject), body), &saved)
	if err != nil {
		return nil, err
	}
	saved.Meta = meta
	return &saved, nil
}
