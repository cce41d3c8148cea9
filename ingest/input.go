package ingest

import (
	"strconv"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// Read reads the body of a digest. Where it has facts, content and models are
// passed over.
func Read(in *memory.Input, v jsonx.Value) (*Digest, error) {
	f := jsonx.Open(v, "")
	d := &Digest{}
	d.Source = source(f)
	d.Mode = mode(in, f)
	d.Threshold = threshold(f)
	if err := in.Scope(v); err != nil {
		f.Fail(err)
	}
	f.Ignore("branch")
	f.Ignore("tenant")
	facts, given := f.Get("facts")
	content, _ := f.Get("content")
	kind, kindGiven := f.Text("content_type")
	subject, about := f.Text("subject")
	f.Ignore("date")
	f.Ignore("backfill")
	for _, name := range modelFields {
		f.Ignore(name)
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	if given {
		d.FromFacts = true
		if err := d.readFacts(in, facts); err != nil {
			return nil, err
		}
		return d, d.declare(in, f)
	}
	if content.Kind != jsonx.String || content.Text == "" {
		return nil, fact.Invalid("content", "is required")
	}
	d.Content = content.Text
	var err error
	if about {
		if d.Subject, err = memory.Name("subject", subject); err != nil {
			return nil, err
		}
	}
	d.Kind = load.Markdown
	if kindGiven {
		if d.Kind, err = load.KindOf("content_type", kind); err != nil {
			return nil, err
		}
	}
	d.Date = in.Time(f, "date")
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := d.declare(in, f); err != nil {
		return nil, err
	}
	return d, d.readModels(f)
}

// declare reads what a digest declares of itself.
func (d *Digest) declare(in *memory.Input, f *jsonx.Fields) error {
	w := &fact.Write{Asserts: d.Facts}
	err := in.Declare(f, w)
	d.Backfill = w.Backfill
	return err
}

// readFacts reads the statements of a digest.
func (d *Digest) readFacts(in *memory.Input, v jsonx.Value) error {
	if v.Kind != jsonx.Array {
		return fact.Invalid("facts", "must be an array, not "+v.Kind.String())
	}
	if len(v.Kids) == 0 || len(v.Kids) > MaxFacts {
		return fact.Invalid("facts", "must hold 1 to "+strconv.Itoa(MaxFacts)+" facts, not "+strconv.Itoa(len(v.Kids)))
	}
	for i := range v.Kids {
		a, err := in.Assert(v.Kids[i], jsonx.Index("facts", i), true)
		if err != nil {
			return err
		}
		d.Facts = append(d.Facts, a)
	}
	return nil
}

func source(f *jsonx.Fields) *string {
	text, ok := f.Text("source")
	if !ok {
		return nil
	}
	if err := fact.CheckSource("source", text); err != nil {
		f.Fail(err)
	}
	return &text
}

// mode reads how personal data is masked. A word that is not known masks as if
// none were given, and says so.
func mode(in *memory.Input, f *jsonx.Fields) mask.Mode {
	text, ok := f.Text("mask")
	if !ok {
		return mask.Unsaid
	}
	m, known := mask.ParseMode(text)
	if !known {
		in.Warn("mask has no such value (redact, hash or shift_date); redact was used")
	}
	return m
}

func threshold(f *jsonx.Fields) *float64 {
	v, ok := f.Get("threshold")
	if !ok {
		return nil
	}
	t, err := strconv.ParseFloat(v.Raw, 64)
	if v.Kind != jsonx.Number || err != nil || !(t >= 0 && t <= 1) {
		f.Fail(fact.Invalid("threshold", "must be a number from 0 to 1"))
		return nil
	}
	return &t
}
