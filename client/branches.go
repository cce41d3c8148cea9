package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Branch is an overlay over its parent as it was recorded at BaseTx (C-55).
type Branch struct {
	Meta      `json:"-"`
	Name      string   `json:"name"`
	Owner     *string  `json:"owner"`
	Parent    string   `json:"parent"`
	BaseTs    int64    `json:"base_ts"`
	BaseTx    uint64   `json:"base_tx"`
	Status    string   `json:"status"` // open, promoted or discarded
	CreatedAt int64    `json:"created_at"`
	CreatedTx uint64   `json:"created_tx"`
	ClosedAt  *int64   `json:"closed_at"`
	ClosedTx  *uint64  `json:"closed_tx"`
	Hints     []string `json:"warnings"`
}

// NewBranch is a branch to make; Parent "" is main, AsOf "" is now.
type NewBranch struct {
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	AsOf   string `json:"as_of,omitempty"`
}

// BranchPath is the path of a branch.
func BranchPath(name string) string { return "/api/branches/" + url.PathEscape(name) }

// CreateBranch makes a branch: POST /api/branches.
func (c *Client) CreateBranch(ctx context.Context, b NewBranch, w Write) (*Branch, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write the branch: %w", err)
	}
	return c.branch(ctx, w.call(http.MethodPost, "/api/branches", body))
}

// Branch reads one branch: GET /api/branches/:name.
func (c *Client) Branch(ctx context.Context, name string, r Read) (*Branch, error) {
	return c.branch(ctx, Call{Method: http.MethodGet, Path: BranchPath(name), Query: r.values()})
}

func (c *Client) branch(ctx context.Context, call Call) (*Branch, error) {
	var b Branch
	meta, err := c.into(ctx, call, &b)
	if err != nil {
		return nil, err
	}
	b.Meta = meta
	return &b, nil
}

// Branches lists branches by name, closed ones included: GET /api/branches.
func (c *Client) Branches(ctx context.Context, l Listing) ([]Branch, error) {
	var list []Branch
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/branches", Query: l.Values()}, &list)
	return list, err
}

// BranchDiff is what a branch changes of its parent as it was at the base. The
// lists hold their first rows; Counts are of all.
type BranchDiff struct {
	Meta     `json:"-"`
	Branch   string         `json:"branch"`
	Parent   string         `json:"parent"`
	BaseTs   int64          `json:"base_ts"`
	BaseTx   uint64         `json:"base_tx"`
	Status   string         `json:"status"`
	Added    []Fact         `json:"added"`
	Changed  []Fact         `json:"changed"`
	Removed  []Fact         `json:"removed"`
	Replaced []Fact         `json:"replaced"`
	Counts   map[string]int `json:"counts"`
	Hints    []string       `json:"warnings"`
}

// DiffBranch compares a branch with its parent: GET /api/branches/:name/diff. limit
// bounds each list; 0 = the server's default.
func (c *Client) DiffBranch(ctx context.Context, name string, limit int, r Read) (*BranchDiff, error) {
	query := r.values()
	setInt(query, "limit", limit)
	var d BranchDiff
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: BranchPath(name) + "/diff", Query: query}, &d)
	if err != nil {
		return nil, err
	}
	d.Meta = meta
	return &d, nil
}

// BranchConflict is a statement of a branch with what it meets on the parent.
type BranchConflict struct {
	Reason string `json:"reason"` // parent_changed or rejected
	Fact   Fact   `json:"fact"`
	With   []Fact `json:"with"`
}

// Promoted is what a promotion did, or in a dry run would do.
type Promoted struct {
	Meta          `json:"-"`
	OK            bool             `json:"ok"` // false in a dry run of a promotion that would be refused
	Branch        string           `json:"branch"`
	Parent        string           `json:"parent"`
	Status        string           `json:"status"`
	DryRun        bool             `json:"dry_run"`
	Promoted      int              `json:"promoted"`
	Unchanged     int              `json:"unchanged"`
	Retracted     int              `json:"retracted"`
	Superseded    int              `json:"superseded"`
	SupersededIDs []string         `json:"superseded_ids"`
	Conflicts     []BranchConflict `json:"conflicts"`
	ConflictCount int              `json:"conflict_count"`
	Tx            uint64           `json:"tx"`
	Hints         []string         `json:"warnings"`
}

// PromoteBranch merges a branch into its parent: POST /api/branches/:name/promote. A
// dry run writes nothing.
func (c *Client) PromoteBranch(ctx context.Context, name string, dryRun bool, w Write) (*Promoted, error) {
	call := w.call(http.MethodPost, BranchPath(name)+"/promote", nil)
	if dryRun {
		call.Query.Set("dry_run", strconv.FormatBool(dryRun))
	}
	var p Promoted
	meta, err := c.into(ctx, call, &p)
	if err != nil {
		return nil, err
	}
	p.Meta = meta
	return &p, nil
}

// Discarded is the answer to a discard.
type Discarded struct {
	Meta      `json:"-"`
	OK        bool   `json:"ok"`
	Branch    string `json:"branch"`
	Status    string `json:"status"`
	Discarded int    `json:"discarded"` // facts that were made on it
	Tx        uint64 `json:"tx"`
}

// DiscardBranch drops what was written on a branch: POST /api/branches/:name/discard.
func (c *Client) DiscardBranch(ctx context.Context, name string, w Write) (*Discarded, error) {
	var d Discarded
	meta, err := c.into(ctx, w.call(http.MethodPost, BranchPath(name)+"/discard", nil), &d)
	if err != nil {
		return nil, err
	}
	d.Meta = meta
	return &d, nil
}
