package memory

import (
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Batch reads the body of transact (C-34): guards, retracts, asserts, and what
// they declare (C-28).
func (in *Input) Batch(v jsonx.Value) (*fact.Write, error) {
	f := jsonx.Open(v, "")
	compares, asserts, retracts := f.Array("compares"), f.Array("asserts"), f.Array("retracts")
	f.Ignore("backfill")
	in.common(f)
	if err := f.Done(); err != nil {
		return nil, err
	}
	if len(compares)+len(asserts)+len(retracts) > fact.MaxTransactRows {
		return nil, fact.Errorf(fact.SchemaInvalid, "a batch may hold at most 10,000 compares, asserts and retracts together")
	}
	if len(asserts)+len(retracts) == 0 {
		return nil, fact.Errorf(fact.SchemaInvalid, "at least one of asserts and retracts must not be empty")
	}
	w := &fact.Write{}
	if err := in.rows(w, compares, asserts, retracts); err != nil {
		return nil, err
	}
	if err := in.Declare(f, w); err != nil {
		return nil, err
	}
	return w, nil
}

// Declare reads what a body declares of the rows of a write, and judges it together
// with what the rows declare themselves (C-28).
func (in *Input) Declare(f *jsonx.Fields, w *fact.Write) (err error) {
	if v, ok := f.Get("backfill"); ok {
		if w.Backfill, err = in.backfill(v); err != nil {
			return err
		}
	}
	return checkDeclarations(w)
}

func (in *Input) rows(w *fact.Write, compares, asserts, retracts []jsonx.Value) error {
	for i := range compares {
		g, err := in.guard(compares[i], jsonx.Index("compares", i))
		if err != nil {
			return err
		}
		w.Guards = append(w.Guards, g)
	}
	for i := range retracts {
		r, err := in.retract(retracts[i], jsonx.Index("retracts", i))
		if err != nil {
			return err
		}
		w.Retracts = append(w.Retracts, r)
	}
	w.Asserts = make([]fact.Assert, 0, len(asserts))
	for i := range asserts {
		a, err := in.Assert(asserts[i], jsonx.Index("asserts", i), true)
		if err != nil {
			return err
		}
		w.Asserts = append(w.Asserts, a)
	}
	return nil
}

// guard reads one compare: just one of expect, absent and object.
func (in *Input) guard(v jsonx.Value, path string) (fact.Guard, error) {
	f := jsonx.Open(v, path)
	g := fact.Guard{Subject: name(f, "subject"), Predicate: name(f, "predicate")}
	given := 0
	if o, ok := f.Any("expect"); ok {
		g.Kind, g.Object = fact.GuardExpect, object(f, "expect", o)
		given++
	}
	if o, ok := f.Any("object"); ok {
		g.Kind, g.Object = fact.GuardObject, object(f, "object", o)
		given++
	}
	if _, ok := f.Get("absent"); ok {
		if !f.Flag("absent") {
			f.Fail(fact.Invalid(f.Path("absent"), "can only be true"))
		}
		g.Kind = fact.GuardAbsent
		given++
	}
	in.common(f)
	if given != 1 {
		f.Fail(fact.Invalid(path, "must have exactly one of expect, absent and object"))
	}
	return g, f.Done()
}

// retract reads an id, or an id with the time at which its retraction was known.
func (in *Input) retract(v jsonx.Value, path string) (fact.Retract, error) {
	r := fact.Retract{KnownAt: fact.NoInstant}
	text := v.Text
	switch v.Kind {
	case jsonx.String:
	case jsonx.Object:
		f := jsonx.Open(v, path)
		text = f.Required("id")
		r.KnownAt = in.declared(f)
		if err := f.Done(); err != nil {
			return r, err
		}
	default:
		return r, fact.Invalid(path, "must be a fact id, not "+v.Kind.String())
	}
	id, ok := fact.ParseID(text)
	if !ok {
		return r, NoFact(text)
	}
	r.ID = id
	return r, nil
}

func (in *Input) backfill(v jsonx.Value) (*fact.Backfill, error) {
	f := jsonx.Open(v, "backfill")
	b := &fact.Backfill{KnownAt: in.declared(f), Reason: f.Required("reason")}
	if strings.TrimSpace(b.Reason) == "" {
		f.Fail(fact.Invalid("backfill.reason", "is required and must not be empty"))
	}
	if len(b.Reason) > fact.MaxSourceBytes {
		f.Fail(fact.Invalid("backfill.reason", "is longer than 1,024 bytes"))
	}
	return b, f.Done()
}

// checkDeclarations refuses rows that declare without a reason, and a reason
// without a declaration (C-28).
func checkDeclarations(w *fact.Write) error {
	declares := w.Backfill != nil && w.Backfill.KnownAt.Given()
	for i := range w.Asserts {
		declares = declares || w.Asserts[i].KnownAt.Given()
	}
	for i := range w.Retracts {
		declares = declares || w.Retracts[i].KnownAt.Given()
	}
	switch {
	case declares && w.Backfill == nil:
		return fact.Invalid("backfill", "is required, with a reason, where a row has declared_known_at")
	case !declares && w.Backfill != nil:
		return fact.Invalid("backfill.declared_known_at", "is required, here or on a row")
	}
	return nil
}

// inItsRow names the row of a batch whose declared time lies in the future. The state
// machine says only that one does, and what it said is kept under Idempotency-Keys.
func inItsRow(e *fact.Error, w *fact.Write, now fact.Instant) *fact.Error {
	if w == nil || e.Field != "declared_known_at" {
		return e
	}
	named := *e
	at := func(path string) *fact.Error {
		named.Field = path + e.Field
		named.Message = path + e.Message
		return &named
	}
	if w.Backfill != nil && w.Backfill.KnownAt > now {
		return at("backfill.")
	}
	for i := range w.Retracts {
		if w.Retracts[i].KnownAt > now {
			return at(jsonx.Index("retracts", i) + ".")
		}
	}
	for i := range w.Asserts {
		if w.Asserts[i].KnownAt > now {
			return at(jsonx.Index("asserts", i) + ".")
		}
	}
	return e
}
