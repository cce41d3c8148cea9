package ingest

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
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
	Kind      string // one of package load's; "" = Markdown
	// Date is when the content was written, the only "today" that it knows; or
	// fact.NoInstant.
	Date fact.Instant
	// Extract finds what the content says in words, and Judge scores it; without
	// them only links are found.
	Extract Model
	Judge   Model
	// Focus says more of what to look for; "" = whatever the text states.
	Focus string
	// Waits keeps a text from becoming a job: one that is too long is refused.
	Waits bool
	// Subject is what the content is about; "" = a document that is named after
	// its content.
	Subject string
	Source  *string
	Mode    mask.Mode
	// Backfill declares that it was known before today (C-28); nil = it does not.
	Backfill  *fact.Backfill
	Threshold *float64 // below which a statement is a candidate; nil = the service's
}

// Outcome says what became of one statement.
type Outcome uint8

// The outcomes: the statement holds, is held back as a candidate, stood already, or
// cannot be written.
const (
	Written Outcome = iota
	Candidate
	Duplicate
	Refused
)

var outcomeNames = [...]string{"written", "candidate", "duplicate", "refused"}

// String returns the word that answers carry.
func (o Outcome) String() string { return outcomeNames[o] }

// Item is one statement of a digest with the fact that tells it now, unless it was
// refused.
type Item struct {
	Outcome Outcome
	Fact    fact.Fact
	// Said is the statement in the words of a model, and Quote those of the text
	// that support it; empty where no model was asked.
	Said  Said
	Quote string
	Chunk int
	// Reason says why it was held back or refused, Notes what else was done to it.
	Reason string
	Notes  []string
}

// Receipt says what became of a digest. Written, candidates, duplicates and refused
// make all items.
type Receipt struct {
	Items  []Item
	Counts [4]int // by Outcome
	// Document is the entity that stands for the text that was kept, and Chunks how
	// many pieces of it were read; "" and 0 where no model was asked.
	Document string
	Chunks   int
	Notes    []string
	// Job reads the text, where it is too long to be waited for; nil = it was read.
	Job        *Job
	Superseded []fact.ID
	Entities   []string
	Masked     int

	title string          // of the document
	named map[string]bool // the entities, for a quick look
}

// Digest masks a digest and writes it in one tx, all or nothing.
func (d *Desk) Digest(ctx context.Context, c memory.Caller, o memory.WriteOptions, q *Digest, trace *memory.Trace) (*Receipt, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if q.Threshold != nil {
		o.Threshold = q.Threshold
	}
	if q.Extract.Given() {
		return d.read(ctx, c, o, q, trace)
	}
	masker := d.Memory.Masker(c, q.Mode)
	if !q.FromFacts && q.Kind == load.PDF {
		doc, err := d.document(ctx, c.Tenant, q.Kind, q.Content)
		if err != nil {
			return nil, nil, err
		}
		q.Content = doc.String()
	}
	facts, masked, err := q.statements(&masker)
	if err != nil {
		return nil, nil, err
	}
	trace.Step("mask", "")
	if o.Mask = q.Mode; !q.FromFacts {
		o.Mask = masker.Again() // the text was masked before its links were read
	}
	o.Blames = func(_ string, i int) string { return jsonx.Index("facts", i) }
	if !q.FromFacts {
		o.Blames = memory.Field("content")
	}
	result, err := d.Memory.Transact(ctx, c, o, &fact.Write{Asserts: facts, Backfill: q.Backfill}, trace)
	if result != nil {
		result.Masked += masked
	}
	if err != nil {
		return nil, result, err
	}
	r := newReceipt()
	r.take(result.Asserts)
	r.Masked = result.Masked
	trace.Name("digest", "mask → asserts, in one tx")
	r.explain(trace)
	return r, result, nil
}

func (r *Receipt) explain(trace *memory.Trace) {
	trace.Int("records", len(r.Items))
	trace.Int("written", r.Counts[Written])
	trace.Int("candidates", r.Counts[Candidate])
	trace.Int("duplicates", r.Counts[Duplicate])
	trace.Int("refused", r.Counts[Refused])
	trace.Int("superseded", len(r.Superseded))
	trace.Int("pii_masked", r.Masked)
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
		subject = fact.DocumentOf(sha256.Sum256([]byte(content)))
	}
	if d.Source != nil {
		source = *d.Source
	}
	return references(subject, &source, links), masked, nil
}

// references are the asserts that links make.
func references(subject string, source *string, links []page.Link) []fact.Assert {
	var list []fact.Assert
	for _, l := range links {
		list = append(list, fact.Assert{
			Subject: subject, Predicate: page.References, Object: fact.TextObject(l.Target), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
			Confidence: 1, Source: source, Policy: fact.Coexist, KnownAt: fact.NoInstant,
		})
	}
	return list
}

func newReceipt() *Receipt { return &Receipt{Entities: []string{}, named: map[string]bool{}} }

// take notes what became of statements, in their order.
func (r *Receipt) take(asserts []fact.AssertResult) {
	for i := range asserts {
		r.add(&asserts[i], Item{})
	}
}

// add notes what became of one statement.
func (r *Receipt) add(a *fact.AssertResult, item Item) {
	item.Outcome, item.Fact = Written, a.Fact
	switch {
	case a.Duplicate:
		item.Outcome = Duplicate
	case a.Fact.Status == fact.Candidate:
		item.Outcome = Candidate
	}
	if item.Outcome != Candidate {
		item.Reason = ""
	}
	r.Items = append(r.Items, item)
	r.Counts[item.Outcome]++
	for j := range a.Superseded {
		r.Superseded = append(r.Superseded, a.Superseded[j].ID)
	}
	r.name(a.Fact.Subject)
	if a.Fact.Object.Kind == fact.Text && isEntity(a.Fact.Object.Text) {
		r.name(a.Fact.Object.Text)
	}
}

func (r *Receipt) name(entity string) {
	if !r.named[entity] {
		r.named[entity] = true
		r.Entities = append(r.Entities, entity)
	}
}

// refuse notes a statement that cannot be written.
func (r *Receipt) refuse(item Item) {
	item.Outcome = Refused
	r.Items = append(r.Items, item)
	r.Counts[Refused]++
}
