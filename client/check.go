package client

import (
	"context"
	"net/http"
	"net/url"

	"abagraph/fact"
)

// FactcheckQuery asks what contradicts what.
type FactcheckQuery struct {
	Read
	Subject   string
	Predicate string
	Coexist   string // a comma list of predicates that may have several values
	Kind      string // a comma list of kinds; "" = all
	Integrity bool   // looks for orphans and dangling references, too
	After     string // Next of the page before
	Limit     int    // 0 = the server's default of 200
}

// Values returns the query parameters.
func (q FactcheckQuery) Values() url.Values {
	v := q.values()
	set(v, "subject", q.Subject)
	set(v, "predicate", q.Predicate)
	set(v, "coexist", q.Coexist)
	set(v, "kind", q.Kind)
	set(v, "after", q.After)
	setInt(v, "limit", q.Limit)
	if q.Integrity {
		v.Set("integrity", "1")
	}
	return v
}

// Contradiction is facts of one subject and predicate that do not go together.
type Contradiction struct {
	Subject   string `json:"subject"`
	Predicate string `json:"predicate"`
	Kind      string `json:"kind"` // multiple_active, expired_but_active or candidate_conflict
	Facts     []Fact `json:"facts"`
	FactCount int    `json:"fact_count"` // those that are not shown included
}

// FactcheckAnswer is a page of contradictions. The counts are of all from the
// place on where the page begins.
type FactcheckAnswer struct {
	Meta           `json:"-"`
	Contradictions []Contradiction `json:"contradictions"`
	Count          int             `json:"count"`
	Counts         map[string]int  `json:"counts"` // by kind
	Orphans        []Entity        `json:"orphans"`
	OrphanCount    int             `json:"orphan_count"`
	Dangling       []Edge          `json:"dangling"`
	DanglingCount  int             `json:"dangling_count"`
	Limited        bool            `json:"limited"`
	Next           string          `json:"next"`
	Hints          []string        `json:"warnings"`
}

// Factcheck looks for contradictions: GET /api/factcheck.
func (c *Client) Factcheck(ctx context.Context, q FactcheckQuery) (*FactcheckAnswer, error) {
	var answer FactcheckAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/factcheck", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// ConsolidateQuery says what to collapse.
type ConsolidateQuery struct {
	Subject   string
	Predicate string
	Coexist   string // a comma list of predicates that may have several values
	DryRun    bool   // writes nothing, and tells what would be collapsed
}

// Set adds the query parameters.
func (q ConsolidateQuery) Set(v url.Values) {
	set(v, "subject", q.Subject)
	set(v, "predicate", q.Predicate)
	set(v, "coexist", q.Coexist)
	if q.DryRun {
		v.Set("dry_run", "1")
	}
}

// Duplicate is facts that say the same for the same time.
type Duplicate struct {
	Subject   string   `json:"subject"`
	Predicate string   `json:"predicate"`
	Kept      string   `json:"kept"`
	Collapsed []string `json:"collapsed"`
}

// Consolidated is what a collapse did.
type Consolidated struct {
	Meta       `json:"-"`
	Collapsed  int         `json:"collapsed"`
	Superseded []string    `json:"superseded"` // the ids of the facts that were retracted
	Conflicts  int         `json:"conflicts"`  // contradictions that are left
	DryRun     bool        `json:"dry_run"`
	Duplicates []Duplicate `json:"duplicates"` // of a dry run
	Hints      []string    `json:"warnings"`
}

// Consolidate collapses copies: POST /api/consolidate.
func (c *Client) Consolidate(ctx context.Context, q ConsolidateQuery, w Write) (*Consolidated, error) {
	var answer Consolidated
	call := w.call(http.MethodPost, "/api/consolidate", nil)
	q.Set(call.Query)
	meta, err := c.into(ctx, call, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// ChangesQuery asks what changed between two instants. From and To are times in
// any spelling of C-1.
type ChangesQuery struct {
	Read
	From      string
	To        string // "" = now
	Axis      string // "" or both, valid or known
	Subject   string
	Predicate string
	Object    string
	After     string // Next of the page before
	Limit     int    // 0 = the server's default of 200
}

// Values returns the query parameters.
func (q ChangesQuery) Values() url.Values {
	v := q.values()
	set(v, "from", q.From)
	set(v, "to", q.To)
	set(v, "axis", q.Axis)
	set(v, "subject", q.Subject)
	set(v, "predicate", q.Predicate)
	set(v, "object", q.Object)
	set(v, "after", q.After)
	setInt(v, "limit", q.Limit)
	return v
}

// ChangesAnswer is a page of what changed. The counts are of all from the place on
// where the page begins.
type ChangesAnswer struct {
	Meta            `json:"-"`
	From            fact.Instant `json:"from"`
	To              fact.Instant `json:"to"`
	Axis            string       `json:"axis"`
	Added           []Fact       `json:"added"`
	Superseded      []Fact       `json:"superseded"` // all that holds no longer, as it stands at To
	Retracted       []string     `json:"retracted"`  // those of them that were retracted
	Expired         []string     `json:"expired"`    // those whose time was over
	AddedCount      int          `json:"added_count"`
	SupersededCount int          `json:"superseded_count"`
	StillValid      int          `json:"still_valid"`
	Limited         bool         `json:"limited"`
	Next            string       `json:"next"`
	Hints           []string     `json:"warnings"`
}

// Changes compares what held at two instants: GET /api/changes.
func (c *Client) Changes(ctx context.Context, q ChangesQuery) (*ChangesAnswer, error) {
	var answer ChangesAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/changes", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

// Corroboration tells who agrees with a fact.
type Corroboration struct {
	Agree       int      `json:"agree"`    // other facts that say the same
	Conflict    int      `json:"conflict"` // those that say something else
	Sources     int      `json:"sources"`
	SourceNames []string `json:"source_names"`
	Facts       []Fact   `json:"facts"`
}

// Explanation says why a fact is believed, or is not any more.
type Explanation struct {
	Meta          `json:"-"`
	Fact          Fact          `json:"fact"`
	History       []Fact        `json:"history"` // of its subject and predicate, by valid_from
	Pieces        []Fact        `json:"pieces"`
	Versions      []Fact        `json:"versions"`
	SupersededBy  *Fact         `json:"superseded_by"` // what ended it
	Superseded    []Fact        `json:"superseded"`    // what it ended
	Corroboration Corroboration `json:"corroboration"`
	Conflicts     []Fact        `json:"conflicts"`
	Note          string        `json:"note"`
	Hints         []string      `json:"warnings"`
}

// ExplainPath is the path of a fact's explanation.
func ExplainPath(id string) string { return "/api/facts/" + url.PathEscape(id) + "/explain" }

// Explain explains a fact: GET /api/facts/:id/explain.
func (c *Client) Explain(ctx context.Context, id string, r Read) (*Explanation, error) {
	var answer Explanation
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: ExplainPath(id), Query: r.values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}
