package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"abagraph/fact"
)

// Read holds the parameters that every read takes. Times are text in any
// spelling of C-1; At writes an Instant so.
type Read struct {
	Branch      string
	Tenant      string
	AsOf        string // valid time (C-21)
	KnownAt     string // record time by the clock (C-22)
	Tx          string // record time by number (C-22)
	NoBackfill  bool   // leaves declared rows out (C-28)
	Consistency string // "" = linearizable, or stale (C-26)
	MinTx       uint64 // waits until the node has applied it (C-26)
}

// At writes an instant for a parameter of Read.
func At(t fact.Instant) string { return strconv.FormatInt(int64(t), 10) }

// Values returns the query parameters.
func (r Read) Values() url.Values { return r.values() }

func (r Read) values() url.Values {
	v := make(url.Values)
	set(v, "branch", r.Branch)
	set(v, "tenant", r.Tenant)
	set(v, "as_of", r.AsOf)
	set(v, "known_at", r.KnownAt)
	set(v, "tx", r.Tx)
	set(v, "consistency", r.Consistency)
	if r.NoBackfill {
		v.Set("backfill", "0")
	}
	if r.MinTx > 0 {
		v.Set("min_tx", strconv.FormatUint(r.MinTx, 10))
	}
	return v
}

// FactQuery selects facts. Empty fields select everything.
type FactQuery struct {
	Read
	Subject          string
	Predicate        string
	Object           string
	Status           string // a comma list, or all (C-20)
	IncludeRetracted bool
	TxGt             string // N or EPOCH:N (C-24, C-35)
	Limit            int    // 0 = the server's default of 200, at most 10,000
}

// Values returns the query parameters.
func (q FactQuery) Values() url.Values {
	v := q.values()
	set(v, "subject", q.Subject)
	set(v, "predicate", q.Predicate)
	set(v, "object", q.Object)
	set(v, "status", q.Status)
	set(v, "tx_gt", q.TxGt)
	setInt(v, "limit", q.Limit)
	if q.IncludeRetracted {
		v.Set("include_retracted", "1")
	}
	return v
}

// FactList is one page of facts.
type FactList struct {
	Meta
	Facts []Fact
}

// Facts lists facts: GET /api/facts.
func (c *Client) Facts(ctx context.Context, q FactQuery) (*FactList, error) {
	var list FactList
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/facts", Query: q.Values()}, &list.Facts)
	if err != nil {
		return nil, err
	}
	list.Meta = meta
	return &list, nil
}

// FactAnswer is a fact of whatever status, with every piece of its statement
// (C-16).
type FactAnswer struct {
	Meta
	Fact   Fact
	Pieces []Fact
}

// Fact reads one fact: GET /api/facts/:id.
func (c *Client) Fact(ctx context.Context, id string, r Read) (*FactAnswer, error) {
	var raw json.RawMessage
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/facts/" + url.PathEscape(id), Query: r.values()}, &raw)
	if err != nil {
		return nil, err
	}
	answer := FactAnswer{Meta: meta}
	var pieces struct {
		Pieces []Fact `json:"pieces"`
	}
	if err := json.Unmarshal(raw, &answer.Fact); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &pieces); err != nil {
		return nil, err
	}
	answer.Pieces = pieces.Pieces
	return &answer, nil
}

// History is the life of a statement (C-58). Where a list holds its first rows
// only, Warnings says so.
type History struct {
	Meta     `json:"-"`
	Fact     Fact   `json:"fact"`
	Pieces   []Fact `json:"pieces"`
	Versions []Fact `json:"versions"`
	Timeline []Fact `json:"timeline"`
}

// History reads every version of a statement: GET /api/facts/:id/history.
func (c *Client) History(ctx context.Context, id string, r Read) (*History, error) {
	var answer struct {
		History
		Warnings []string `json:"warnings"`
	}
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: HistoryPath(id), Query: r.values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	answer.Meta.Warnings = append(answer.Meta.Warnings, answer.Warnings...)
	return &answer.History, nil
}

// HistoryPath is the path of a statement's history.
func HistoryPath(id string) string { return "/api/facts/" + url.PathEscape(id) + "/history" }

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func setInt(v url.Values, name string, value int) {
	if value != 0 {
		v.Set(name, strconv.Itoa(value))
	}
}
