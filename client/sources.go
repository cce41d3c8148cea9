package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Undone is what an undo of a source did, or in a dry run would do.
type Undone struct {
	Meta         `json:"-"`
	Source       string         `json:"source"`
	DryRun       bool           `json:"dry_run"`
	Statements   int            `json:"statements"`
	Retracted    int            `json:"retracted"` // facts: a statement that was cut is several
	Remaining    int            `json:"remaining"`
	Found        map[string]int `json:"found"` // by status, before
	RetractedIDs []string       `json:"retracted_ids"`
	Sample       []Fact         `json:"sample"` // in a dry run
	Tx           uint64         `json:"tx"`
	Hints        []string       `json:"warnings"`
}

// Undo says how to take back what a source wrote.
type Undo struct {
	DryRun bool
	// Partial retracts the newest statements where one transaction cannot hold all.
	Partial bool
	// After leaves out what was recorded up to this tx.
	After uint64
}

// Values returns the undo's query parameters.
func (u Undo) Values() url.Values {
	query := url.Values{}
	if u.DryRun {
		query.Set("dry_run", "1")
	}
	if u.Partial {
		query.Set("partial", "1")
	}
	if u.After > 0 {
		query.Set("tx_gt", strconv.FormatUint(u.After, 10))
	}
	return query
}

// UndoPath is the path of a source's undo.
func UndoPath(source string) string { return "/api/sources/" + url.PathEscape(source) + "/undo" }

// UndoSource retracts what a source wrote: POST /api/sources/:name/undo.
func (c *Client) UndoSource(ctx context.Context, source string, u Undo, w Write) (*Undone, error) {
	call := w.call(http.MethodPost, UndoPath(source), nil)
	for name, values := range u.Values() {
		call.Query[name] = values
	}
	var done Undone
	meta, err := c.into(ctx, call, &done)
	if err != nil {
		return nil, err
	}
	done.Meta = meta
	return &done, nil
}
