package memory

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/mask"
	"abagraph/memory/packet"
)

// EnrichQuery asks what a batch of statements would meet, before it is written.
// Make its Read with NewRead.
type EnrichQuery struct {
	Read
	Facts []fact.Assert
	Mode  mask.Mode
}

// Disagreement is a fact that holds, and what was to be said instead.
type Disagreement struct {
	Incoming fact.Object
	Existing fact.Fact
}

// Enriched are the statements as they may be written, and what they would meet.
type Enriched struct {
	Facts     []fact.Assert
	Conflicts []Disagreement
	Masked    int
	// Cut tells that there may be more conflicts: one answer holds so many, by
	// number and by weight, and looks at so many facts.
	Cut bool

	weight, looked int  // of the conflicts; facts that were looked at
	full           bool // a conflict had no room
}

// Bounds of what enriching one batch looks at and answers.
const (
	maxConflicts = fact.MaxTransactRows // also facts that are looked at for one statement
	maxLooked    = 10 * maxConflicts
)

// owned are the fields of a whole fact that the server gave it: sent back for
// writing, they say nothing (C-43).
var owned = map[string]bool{
	"id": true, "tx": true, "recorded_at": true, "status": true, "stated_from": true, "stated_until": true, "dated": true, "continues": true, "superseded_by": true,
	"declared_known_at": true,
}

// Enrich reads the body of a request to enrich. Facts may be statements or whole
// facts, of which what the server owns is passed over.
func (in *Input) Enrich(v jsonx.Value) (*EnrichQuery, error) {
	f := jsonx.Open(v, "")
	q := &EnrichQuery{Read: NewRead()}
	list, ok := f.Get("facts")
	switch {
	case !ok:
		f.Fail(fact.Invalid("facts", "is required"))
	case list.Kind != jsonx.Array:
		f.Fail(fact.Invalid("facts", "must be an array, not "+list.Kind.String()))
	case len(list.Kids) > fact.MaxTransactRows:
		f.Fail(fact.Invalid("facts", fmt.Sprintf("holds more than %d facts", fact.MaxTransactRows)))
	}
	label := source(f)
	q.Mode = in.maskMode(f)
	in.common(f)
	if err := f.Done(); err != nil {
		return nil, err
	}
	for i := range list.Kids {
		a, err := in.Assert(stripped(list.Kids[i]), jsonx.Index("facts", i), false)
		if err != nil {
			return nil, err
		}
		if a.Source == nil {
			a.Source = label
		}
		q.Facts = append(q.Facts, a)
	}
	return q, nil
}

// maskMode reads how personal data is masked. A word that is not known masks as if
// none were given, as documented, and says so.
func (in *Input) maskMode(f *jsonx.Fields) mask.Mode {
	// Whoever asks to see the masked form shall see it, whatever writes do.
	v, ok := f.Get("mask")
	if !ok || v.Kind == jsonx.Bool && v.Bool {
		return mask.Redact
	}
	if v.Kind != jsonx.String && v.Kind != jsonx.Bool {
		f.Fail(fact.Invalid("mask", "must be redact, hash or shift_date"))
		return mask.Redact
	}
	mode, known := mask.ParseMode(v.Text)
	if !known {
		in.Warn("mask has no such value: " + shorten(v.Raw) + " (redact, hash or shift_date); redact was used")
	}
	return mode
}

// stripped is a fact without the fields that the server owns, and without those that
// answers put beside it.
func stripped(v jsonx.Value) jsonx.Value {
	if v.Kind != jsonx.Object {
		return v
	}
	kids := make([]jsonx.Value, 0, len(v.Kids))
	for _, kid := range v.Kids {
		if !owned[kid.Name] && !slices.Contains(shownWith[:], kid.Name) {
			kids = append(kids, kid)
		}
	}
	v.Kids = kids
	return v
}

// Enrich masks personal data in statements, and looks for facts that hold and say
// otherwise. It writes nothing.
func (s *Service) Enrich(ctx context.Context, c Caller, q *EnrichQuery, trace *Trace) (*Enriched, Meta, error) {
	done := &Enriched{Facts: make([]fact.Assert, len(q.Facts))}
	masker := s.Masker(c, q.Mode)
	for i := range q.Facts {
		done.Facts[i] = q.Facts[i]
		n, err := masker.Assert(&done.Facts[i])
		if err != nil {
			return nil, Meta{}, fmt.Errorf("mask a statement: %w", err)
		}
		done.Masked += n
	}
	trace.Step("mask", "")
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	for i := range done.Facts {
		if done.full || done.looked > maxLooked {
			done.Cut = true
			break
		}
		if err := r.disagree(done, &done.Facts[i]); err != nil {
			return nil, r.meta, err
		}
	}
	trace.Step("execute", "by_subject")
	trace.Name("enrich", "mask → by_subject timeline → compare")
	trace.Int("facts", len(done.Facts))
	trace.Int("masked", done.Masked)
	trace.Int("conflicts", len(done.Conflicts))
	return done, r.meta, nil
}

// disagree adds the facts that hold of a statement's subject and predicate and
// have another object. Where several objects are meant to stand side by side,
// none disagrees.
func (r *reading) disagree(done *Enriched, a *fact.Assert) error {
	if packet.SetValued(a.Predicate) {
		return nil
	}
	page, err := r.view.Facts(r.ctx, &fact.Query{Scope: r.scope, Subject: a.Subject, Predicate: a.Predicate, At: r.at, Limit: maxConflicts})
	if err != nil {
		return fmt.Errorf("look for conflicts: %w", err)
	}
	done.Cut = done.Cut || page.Scan.LimitHit
	done.looked += page.Scan.Scanned
	for i := range page.Facts {
		f := &page.Facts[i]
		if f.Object.Equal(a.Object) || a.Policy == fact.Coexist && f.Policy == fact.Coexist {
			continue
		}
		if !done.add(a, f) {
			done.Cut, done.full = true, true
			return nil
		}
	}
	return nil
}

// add adds a conflict, and answers false where there is no room for it. Each one
// repeats what was to be said: a long text that meets many facts is no small
// answer.
func (e *Enriched) add(a *fact.Assert, existing *fact.Fact) bool {
	incoming := fact.Fact{Object: a.Object}
	weight := e.weight + incoming.Weight() + existing.Weight() + len(existing.Object.Text) // which is shown twice
	if len(e.Conflicts) == maxConflicts || weight > fact.MaxAnswerBytes && len(e.Conflicts) > 0 {
		return false
	}
	e.weight = weight
	e.Conflicts = append(e.Conflicts, Disagreement{Incoming: a.Object, Existing: *existing})
	return true
}
