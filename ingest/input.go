package ingest

import (
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// contentTypes are the kinds of texts that are read.
var contentTypes = [...]string{"text/markdown", "text/plain"}

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
	kind, _ := f.Get("content_type")
	subject, about := f.Get("subject")
	models := [...]string{"model", "extract_model", "judge_model"}
	for _, name := range models {
		f.Ignore(name)
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	if given {
		d.FromFacts = true
		return d, d.readFacts(in, facts)
	}
	if content.Kind != jsonx.String || content.Text == "" {
		return nil, fact.Invalid("content", "is required")
	}
	d.Content = content.Text
	if about {
		if subject.Kind != jsonx.String {
			return nil, fact.Invalid("subject", "must be a string, not "+subject.Kind.String())
		}
		var err error
		if d.Subject, err = memory.Name("subject", subject.Text); err != nil {
			return nil, err
		}
	}
	if err := checkType(kind); err != nil {
		return nil, err
	}
	return d, checkModels(f, models[:])
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
		a, err := in.Assert(v.Kids[i], jsonx.Index("facts", i), false)
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

// checkType refuses a text of a kind that is not read.
func checkType(v jsonx.Value) error {
	media, _, _ := strings.Cut(strings.ToLower(v.Text), ";")
	for _, known := range contentTypes {
		if v.Kind == jsonx.Null || v.Kind == jsonx.String && strings.TrimSpace(media) == known {
			return nil
		}
	}
	return fact.Invalid("content_type", "must be "+strings.Join(contentTypes[:], " or "))
}

// checkModels refuses what only a model could do, before anything is written. A
// model is judged by its form first, so that a wrong one is told apart.
func checkModels(f *jsonx.Fields, names []string) error {
	for _, name := range names {
		v, given := f.Get(name)
		if !given {
			continue
		}
		m := jsonx.Open(v, name)
		provider, _ := m.Text("provider")
		endpoint, _ := m.Text("endpoint")
		for _, required := range [...]string{"key", "model"} {
			if m.Required(required) == "" {
				m.Fail(fact.Invalid(name+"."+required, "must not be empty"))
			}
		}
		if provider != "" && provider != "anthropic" && provider != "openai" {
			m.Fail(fact.Invalid(name+".provider", "has no such value (anthropic or openai)"))
		}
		if endpoint != "" && !strings.HasPrefix(endpoint, "https://") && !strings.HasPrefix(endpoint, "http://") {
			m.Fail(fact.Invalid(name+".endpoint", "must be an http or https URL"))
		}
		if err := m.Done(); err != nil {
			return err
		}
		return fact.Invalid(name, "cannot be used: this version calls no model; send facts, or content with [[links]] and no model")
	}
	return nil
}
