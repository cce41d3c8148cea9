package client

import (
	"encoding/json"
	"fmt"

	"abagraph/fact"

	jsonv2 "github.com/go-json-experiment/json"
)

// Fact is a fact as an answer carries it. Times are Unix milliseconds.
type Fact struct {
	ID              string
	Tenant          string
	Subject         string
	Predicate       string
	Object          fact.Object
	ValidFrom       fact.Instant
	ValidUntil      fact.Instant // fact.Forever = open
	RecordedAt      fact.Instant
	DeclaredKnownAt fact.Instant // fact.NoInstant = not declared (C-28)
	Confidence      float64
	Source          *string
	Properties      json.RawMessage // nil = none
	Status          string
	Transient       bool
	Tx              uint64
	Continues       string // the first piece of the statement (C-13), or ""
	SupersededBy    string
	// Raw is the JSON that the fact was read from.
	Raw json.RawMessage
}

type wireFact struct {
	ID              string          `json:"id"`
	Tenant          *string         `json:"tenant"`
	Subject         string          `json:"subject"`
	Predicate       string          `json:"predicate"`
	Object          json.RawMessage `json:"object"`
	ValidFrom       *int64          `json:"valid_from"`
	ValidUntil      *int64          `json:"valid_until"`
	RecordedAt      *int64          `json:"recorded_at"`
	DeclaredKnownAt *int64          `json:"declared_known_at"`
	Confidence      float64         `json:"confidence"`
	Source          *string         `json:"source"`
	Properties      json.RawMessage `json:"properties"`
	Status          string          `json:"status"`
	Transient       bool            `json:"transient"`
	Tx              uint64          `json:"tx"`
	Continues       *string         `json:"continues"`
	SupersededBy    *string         `json:"superseded_by"`
}

// UnmarshalJSON reads a fact; fields it does not know are kept in Raw only.
func (f *Fact) UnmarshalJSON(raw []byte) error {
	var w wireFact
	if err := jsonv2.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("read a fact: %w", err)
	}
	object, err := DecodeObject(w.Object)
	if err != nil {
		return fmt.Errorf("read a fact: %w", err)
	}
	*f = Fact{
		ID: w.ID, Tenant: deref(w.Tenant), Subject: w.Subject, Predicate: w.Predicate, Object: object,
		ValidFrom: instantOr(w.ValidFrom, fact.NoInstant), ValidUntil: instantOr(w.ValidUntil, fact.Forever),
		RecordedAt: instantOr(w.RecordedAt, fact.NoInstant), DeclaredKnownAt: instantOr(w.DeclaredKnownAt, fact.NoInstant),
		Confidence: w.Confidence, Source: w.Source, Status: w.Status, Transient: w.Transient, Tx: w.Tx,
		Continues: deref(w.Continues), SupersededBy: deref(w.SupersededBy),
		Raw: append(json.RawMessage(nil), raw...),
	}
	if string(w.Properties) != "null" {
		f.Properties = w.Properties
	}
	return nil
}

// MarshalJSON returns the JSON that the fact was read from.
func (f Fact) MarshalJSON() ([]byte, error) {
	if f.Raw == nil {
		return []byte("null"), nil
	}
	return f.Raw, nil
}

func instantOr(ms *int64, otherwise fact.Instant) fact.Instant {
	if ms == nil {
		return otherwise
	}
	return fact.Instant(*ms)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
