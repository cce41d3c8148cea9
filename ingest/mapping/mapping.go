package mapping

import (
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// What a mapping is where it does not say otherwise.
const (
	DefaultSubject    = "Record:$id"
	DefaultConfidence = 0.9
)

// Bounds of a mapping and of what one record may become.
const (
	MaxFields = 1_000
	MaxFacts  = 1_000
)

// Mapping says what a record becomes. It is safe for concurrent use.
type Mapping struct {
	// Subject is the template as it was written.
	Subject string
	// Confidence is that of a value that carries none; Most caps every one.
	Confidence float64
	Most       float64
	// ValidFrom names the field that holds the time from which a record's values
	// are true; "" = they are true from when they are recorded.
	ValidFrom string
	Policy    fact.Policy
	// Source is what the facts carry.
	Source string

	template template
	fields   []selected // empty = every scalar field
	consumed []string
}

// selected is a field that becomes a predicate.
type selected struct{ field, predicate string }

// New is the mapping where none is given.
func New() *Mapping {
	m := &Mapping{Subject: DefaultSubject, Confidence: DefaultConfidence, Most: 1}
	m.template, _ = parseTemplate("", DefaultSubject) // it is known to be well formed
	m.consumed = m.template.fields()
	return m
}

// Read reads a mapping strictly. The path names it in errors.
func Read(v jsonx.Value, path string) (*Mapping, error) {
	f := jsonx.Open(v, path)
	m := New()
	if text, ok := f.Text("subject"); ok {
		m.Subject = text
	}
	if c, ok := f.Any("confidence"); ok {
		m.Confidence = fraction(f, "confidence", c)
	}
	m.ValidFrom, _ = f.Text("valid_from")
	if text, ok := f.Text("policy"); ok {
		policy, err := fact.ParsePolicy(f.Path("policy"), text)
		if err != nil {
			f.Fail(err)
		}
		m.Policy = policy
	}
	if list, ok := f.Get("fields"); ok {
		m.readFields(f, list)
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	return m, m.compile(f.Path("subject"))
}

func (m *Mapping) compile(path string) error {
	if m.Subject == "" {
		return fact.Invalid(path, "must not be empty")
	}
	if len(m.Subject) > fact.MaxNameBytes {
		return fact.Invalid(path, "is longer than 1,024 bytes")
	}
	t, err := parseTemplate(path, m.Subject)
	if err != nil {
		return err
	}
	if len(t.fields()) == 0 {
		if m.Subject, err = memory.Name(path, m.Subject); err != nil {
			return err
		}
		t[0].text = m.Subject
	}
	m.template, m.consumed = t, t.fields()
	left := slices.ContainsFunc(m.fields, func(s selected) bool { return !slices.Contains(m.consumed, s.field) })
	if len(m.fields) > 0 && !left {
		return fact.Invalid(path, "consumes every field that is mapped: nothing would be left to become a fact")
	}
	return nil
}

// readFields reads both forms: a list of names, and an object of names and
// predicates.
func (m *Mapping) readFields(f *jsonx.Fields, v jsonx.Value) {
	path := f.Path("fields")
	if v.Kind != jsonx.Array && v.Kind != jsonx.Object {
		f.Fail(fact.Invalid(path, "must be a list of names, or an object of names and predicates, not "+v.Kind.String()))
		return
	}
	if len(v.Kids) > MaxFields {
		f.Fail(fact.Invalid(path, "has more than "+strconv.Itoa(MaxFields)+" fields"))
		return
	}
	for i := range v.Kids {
		kid, at := &v.Kids[i], jsonx.Index(path, i)
		if v.Kind == jsonx.Object {
			at = path + "." + kid.Name
		}
		if kid.Kind != jsonx.String {
			f.Fail(fact.Invalid(at, "must be a string, not "+kid.Kind.String()))
			return
		}
		predicate, err := memory.Name(at, kid.Text)
		if err != nil {
			f.Fail(err)
			return
		}
		field := kid.Text
		if v.Kind == jsonx.Object {
			field = kid.Name
		}
		if slices.ContainsFunc(m.fields, func(s selected) bool { return s.field == field }) {
			f.Fail(fact.Invalid(at, "is named twice"))
			return
		}
		m.fields = append(m.fields, selected{field, predicate})
	}
}

func fraction(f *jsonx.Fields, name string, v jsonx.Value) float64 {
	c, err := Fraction(f.Path(name), v)
	if err != nil {
		f.Fail(err)
	}
	return c
}

// Fraction reads a number from 0 to 1; nothing else is one (C-4).
func Fraction(path string, v jsonx.Value) (float64, error) {
	problem := fact.Invalid(path, "must be a number from 0 to 1")
	if v.Kind != jsonx.Number {
		return 0, problem
	}
	if _, err := fact.NumberObject(path, v.Raw); err != nil {
		return 0, err
	}
	c, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || !(c >= 0 && c <= 1) {
		return 0, problem
	}
	return c + 0, nil
}
