package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/memory"
	"abagraph/memory/mask"
	"abagraph/memory/page"
)

// MaxFacts is the most statements of one digest.
const MaxFacts = 500

// DefaultSource is the source of what a text says, where none is given.
const DefaultSource = "upload"

// Digest is what shall become facts: Facts where FromFacts is set, or else the
// links of Content.
type Digest struct {
	FromFacts bool
	Facts     []fact.Assert
	Content   string
	// Subject is what the content is about; "" = a document that is named after
	// its content.
	Subject   string
	Source    *string
	Mode      mask.Mode
	Threshold *float64 // below which a statement is a candidate; nil = the service's
}

// Outcome says what became of one statement.
type Outcome uint8

// The outcomes: the statement holds, is held back as a candidate, or stood already.
const (
	Written Outcome = iota
	Candidate
	Duplicate
)

var outcomeNames = [...]string{"written", "candidate", "duplicate"}

// String returns the word that answers carry.
func (o Outcome) String() string { return outcomeNames[o] }

// Item is one statement of a digest with the fact that tells it now.
type Item struct {
	Outcome Outcome
	Fact    fact.Fact
}

// Receipt says what became of a digest. Written, candidates and duplicates make
// all items.
type Receipt struct {
	Items      []Item
	Counts     [3]int // by Outcome
	Superseded []fact.ID
	Entities   []string
	Masked     int
}

// Run masks a digest and writes it in one tx, all or nothing.
func Run(ctx context.Context, m *memory.Service, c memory.Caller, o memory.WriteOptions, d *Digest, trace *memory.Trace) (*Receipt, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	masker := m.Masker(c, d.Mode)
	facts, masked, err := d.statements(&masker)
	if err != nil {
		return nil, nil, err
	}
	trace.Step("mask", "")
	if d.Threshold != nil {
		o.Threshold = d.Threshold
	}
	if o.Mask = d.Mode; !d.FromFacts {
		o.Mask = masker.Again() // the text was masked before its links were read
	}
	result, err := m.Transact(ctx, c, o, &fact.Write{Asserts: facts}, trace)
	if result != nil {
		result.Masked += masked
	}
	if err != nil {
		return nil, result, err
	}
	r := receipt(result)
	r.Masked = result.Masked
	trace.Name("digest", "mask → asserts, in one tx")
	trace.Int("records", len(r.Items))
	trace.Int("written", r.Counts[Written])
	trace.Int("candidates", r.Counts[Candidate])
	trace.Int("duplicates", r.Counts[Duplicate])
	trace.Int("superseded", len(r.Superseded))
	trace.Int("pii_masked", r.Masked)
	return r, result, nil
}

// statements returns what shall be written: given facts as they are, since every
// write is masked, and the links of a text without personal data.
func (d *Digest) statements(m *mask.Masker) ([]fact.Assert, int, error) {
	if !d.FromFacts {
		return d.links(m)
	}
	list := slices.Clone(d.Facts)
	for i := range list {
		if list[i].Source == nil {
			list[i].Source = d.Source
		}
	}
	return list, 0, nil
}

// links returns one reference for each target that the content links to.
func (d *Digest) links(m *mask.Masker) ([]fact.Assert, int, error) {
	content, masked := m.Text(d.Content)
	links := page.Links(content)
	if len(links) == 0 {
		return nil, 0, fact.Invalid("extract_model", "is required: without a model only [[links]] are extracted, and the content has none")
	}
	if len(links) > MaxFacts {
		return nil, 0, fact.Invalid("content", "links to "+strconv.Itoa(len(links))+" targets: a digest writes at most "+strconv.Itoa(MaxFacts)+" facts")
	}
	subject, n := m.Name(d.Subject)
	masked += n
	source := DefaultSource
	if subject == "" {
		subject = document(content)
	}
	if d.Source != nil {
		source = *d.Source
	}
	var list []fact.Assert
	for _, l := range links {
		list = append(list, fact.Assert{
			Subject: subject, Predicate: page.References, Object: fact.TextObject(l.Target), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
			Confidence: 1, Source: &source, Policy: fact.Coexist, KnownAt: fact.NoInstant,
		})
	}
	return list, masked, nil
}

// document names a text after its content.
func document(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "Document:" + hex.EncodeToString(sum[:8])
}

// receipt says what became of each statement.
func receipt(result *fact.Result) *Receipt {
	r := &Receipt{Entities: []string{}}
	seen := make(map[string]bool)
	name := func(entity string) {
		if !seen[entity] {
			seen[entity] = true
			r.Entities = append(r.Entities, entity)
		}
	}
	for i := range result.Asserts {
		a := &result.Asserts[i]
		item := Item{Outcome: Written, Fact: a.Fact}
		switch {
		case a.Duplicate:
			item.Outcome = Duplicate
		case a.Fact.Status == fact.Candidate:
			item.Outcome = Candidate
		}
		r.Items = append(r.Items, item)
		r.Counts[item.Outcome]++
		for j := range a.Superseded {
			r.Superseded = append(r.Superseded, a.Superseded[j].ID)
		}
		name(a.Fact.Subject)
		if a.Fact.Object.Kind == fact.Text {
			if _, _, ref := fact.SplitEntity(a.Fact.Object.Text); ref {
				name(a.Fact.Object.Text)
			}
		}
	}
	return r
}
