package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"abagraph/fact"

	jsonv2 "github.com/go-json-experiment/json"
)

// Assert is one statement to write. Times are text in any spelling of C-1, ""
// where they are not given.
type Assert struct {
	Subject         string
	Predicate       string
	Object          fact.Object
	ValidFrom       string
	ValidUntil      string
	Confidence      *float64
	Source          *string
	Properties      json.RawMessage
	Policy          string
	Transient       bool
	DeclaredKnownAt string // only beside a Backfill (C-28)
}

type wireAssert struct {
	Subject         string          `json:"subject"`
	Predicate       string          `json:"predicate"`
	Object          json.RawMessage `json:"object"`
	ValidFrom       string          `json:"valid_from,omitempty"`
	ValidUntil      string          `json:"valid_until,omitempty"`
	Confidence      *float64        `json:"confidence,omitempty"`
	Source          *string         `json:"source,omitempty"`
	Properties      json.RawMessage `json:"properties,omitempty"`
	Policy          string          `json:"policy,omitempty"`
	Transient       bool            `json:"transient,omitzero"`
	DeclaredKnownAt string          `json:"declared_known_at,omitempty"`
}

// MarshalJSON writes the body of POST /api/facts.
func (a Assert) MarshalJSON() ([]byte, error) {
	object, err := EncodeObject(a.Object)
	if err != nil {
		return nil, err
	}
	return jsonv2.Marshal(wireAssert{
		Subject: a.Subject, Predicate: a.Predicate, Object: object, ValidFrom: a.ValidFrom, ValidUntil: a.ValidUntil,
		Confidence: a.Confidence, Source: a.Source, Properties: a.Properties, Policy: a.Policy, Transient: a.Transient,
		DeclaredKnownAt: a.DeclaredKnownAt,
	})
}

// Retract names a fact to retract in a transact, with the time that the
// retraction was known where it is declared (C-28).
type Retract struct {
	ID              string
	DeclaredKnownAt string
}

// MarshalJSON writes the id alone, or an object where a time is declared.
func (r Retract) MarshalJSON() ([]byte, error) {
	if r.DeclaredKnownAt == "" {
		return marshal(r.ID)
	}
	return marshal(struct {
		ID              string `json:"id"`
		DeclaredKnownAt string `json:"declared_known_at"`
	}{r.ID, r.DeclaredKnownAt})
}

// Compare is a guard of a transact (C-34): just one of Expect, Absent and
// Object is set.
type Compare struct {
	Subject   string
	Predicate string
	Expect    *fact.Object
	Object    *fact.Object
	Absent    bool
}

// MarshalJSON writes the guard.
func (g Compare) MarshalJSON() ([]byte, error) {
	w := map[string]any{"subject": g.Subject, "predicate": g.Predicate}
	if g.Absent {
		w["absent"] = true
	}
	for name, object := range map[string]*fact.Object{"expect": g.Expect, "object": g.Object} {
		if object == nil {
			continue
		}
		raw, err := EncodeObject(*object)
		if err != nil {
			return nil, err
		}
		w[name] = raw
	}
	return marshal(w)
}

// Backfill declares that the data of a batch was known before today (C-28).
type Backfill struct {
	DeclaredKnownAt string `json:"declared_known_at,omitempty"`
	Reason          string `json:"reason"`
}

// Transact is a batch: guards, then retracts, then asserts, all or nothing.
type Transact struct {
	Compares []Compare `json:"compares,omitempty"`
	Retracts []Retract `json:"retracts,omitempty"`
	Asserts  []Assert  `json:"asserts,omitempty"`
	Backfill *Backfill `json:"backfill,omitempty"`
}

// Write holds what every write takes beside its body.
type Write struct {
	Branch string
	Tenant string
	// IdempotencyKey names this write for its repetitions (C-31); "" = the
	// client makes one.
	IdempotencyKey string
	// Approval is the id that another was told, where a change of a branch takes two.
	Approval string
}

func (w Write) call(method, path string, body []byte) Call {
	v := make(url.Values)
	set(v, "branch", w.Branch)
	set(v, "tenant", w.Tenant)
	set(v, "approval", w.Approval)
	return Call{Method: method, Path: path, Query: v, Body: body, IdempotencyKey: w.IdempotencyKey}
}

// Asserted is the answer to an assert.
type Asserted struct {
	Meta
	Fact Fact
	// Duplicate tells that nothing was written, because the statement stood
	// already (C-10).
	Duplicate     bool
	Superseded    int
	SupersededIDs []string
	Masked        int // personal data that was masked before the write
	Continuations []Fact
	Warnings      []string
}

// Assert writes one fact: POST /api/facts.
func (c *Client) Assert(ctx context.Context, a Assert, w Write) (*Asserted, error) {
	body, err := jsonv2.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("write the assert: %w", err)
	}
	answer, err := c.Do(ctx, w.call(http.MethodPost, "/api/facts", body))
	if err != nil {
		return nil, err
	}
	result := Asserted{Meta: answer.Meta, Duplicate: answer.Status == http.StatusOK}
	var extra struct {
		Superseded    int      `json:"superseded"`
		SupersededIDs []string `json:"superseded_ids"`
		Masked        int      `json:"pii_masked"`
		Continuations []Fact   `json:"continuations"`
		Warnings      []string `json:"warnings"`
	}
	if err := decodeBoth(answer.Body, &result.Fact, &extra); err != nil {
		return nil, fmt.Errorf("read the answer to POST /api/facts: %w", err)
	}
	result.Superseded, result.SupersededIDs = extra.Superseded, extra.SupersededIDs
	result.Masked = extra.Masked
	result.Continuations, result.Warnings = extra.Continuations, extra.Warnings
	return &result, nil
}

// Retracted is the answer to a retraction.
type Retracted struct {
	Meta `json:"-"`
	OK   bool   `json:"ok"`
	ID   string `json:"id"`
}

// Retract ends a statement: DELETE /api/facts/:id.
func (c *Client) Retract(ctx context.Context, id string, w Write) (*Retracted, error) {
	var r Retracted
	meta, err := c.into(ctx, w.call(http.MethodDelete, "/api/facts/"+url.PathEscape(id), nil), &r)
	if err != nil {
		return nil, err
	}
	r.Meta = meta
	return &r, nil
}

// Transacted is the answer to a transact. Facts holds the facts of the asserts
// first, one for each in their order (the existing one for a duplicate), then
// every other fact that the batch touched.
type Transacted struct {
	Meta          `json:"-"`
	Tx            uint64   `json:"tx"`
	Facts         []Fact   `json:"facts"`
	Retracted     []string `json:"retracted"`
	Superseded    int      `json:"superseded"`
	SupersededIDs []string `json:"superseded_ids"`
	Masked        int      `json:"pii_masked"` // personal data that was masked before the write
	Continuations []Fact   `json:"continuations"`
	Warnings      []string `json:"warnings"`
}

// Transact writes a batch: POST /api/transact.
func (c *Client) Transact(ctx context.Context, t *Transact, w Write) (*Transacted, error) {
	body, err := jsonv2.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write the batch: %w", err)
	}
	var result Transacted
	meta, err := c.into(ctx, w.call(http.MethodPost, "/api/transact", body), &result)
	if err != nil {
		return nil, err
	}
	result.Meta = meta
	return &result, nil
}

func decodeBoth(raw []byte, first, second any) error {
	if err := jsonv2.Unmarshal(raw, first); err != nil {
		return err
	}
	return jsonv2.Unmarshal(raw, second)
}
