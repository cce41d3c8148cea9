package mapping

import (
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// Noted is what else is to be said of a record that became facts.
type Noted struct {
	Ignored   int    // fields that are mapped and hold no scalar
	Suspicion string // of its first time that looks like seconds (C-1); "" = none
}

// Facts appends what a record becomes, in the order of the mapping's fields, or of
// the record's. An error says why the record becomes nothing; its field is the
// record's.
func (m *Mapping) Facts(dst []fact.Assert, record jsonx.Value) ([]fact.Assert, Noted, error) {
	if record.Kind != jsonx.Object {
		return dst, Noted{}, fact.Invalid("", "a record must be an object, not "+record.Kind.String())
	}
	subject, err := m.template.fill(record)
	if err != nil {
		return dst, Noted{}, err
	}
	if subject, err = memory.Name("subject", subject); err != nil {
		return dst, Noted{}, err
	}
	b := builder{m: m, subject: subject, from: fact.NoInstant, list: dst}
	if m.ValidFrom != "" {
		if v, ok := lookup(record, m.ValidFrom); ok {
			if b.from, err = b.instant(m.ValidFrom, plain(v)); err != nil {
				return dst, Noted{}, err
			}
		}
	}
	if err := b.run(record); err != nil {
		return dst, Noted{}, err
	}
	if len(b.list)-len(dst) > MaxFacts {
		return dst, Noted{}, fact.Errorf(fact.SchemaInvalid, "the record has more than %d values", MaxFacts)
	}
	if len(b.list) == len(dst) {
		return dst, Noted{}, fact.Errorf(fact.SchemaInvalid, "the record has no value that is mapped")
	}
	return b.list, b.noted, nil
}

// builder makes the facts of one record.
type builder struct {
	m       *Mapping
	subject string
	from    fact.Instant
	list    []fact.Assert
	noted   Noted
}

func (b *builder) run(record jsonx.Value) error {
	if len(b.m.fields) > 0 {
		for _, s := range b.m.fields {
			v, ok := lookup(record, s.field)
			if !ok || slices.Contains(b.m.consumed, s.field) {
				continue
			}
			if err := b.take(s.field, s.predicate, v); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range record.Kids {
		v := record.Kids[i]
		if v.Name == b.m.ValidFrom || slices.Contains(b.m.consumed, v.Name) {
			continue
		}
		if err := b.take(v.Name, v.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// take makes a fact of a value. Null is no value, as in every body; what is no
// scalar is left out, and counted.
func (b *builder) take(field, predicate string, v jsonx.Value) error {
	a := fact.Assert{
		Subject: b.subject, ValidFrom: b.from, ValidUntil: fact.Forever, Confidence: b.m.Confidence,
		Source: &b.m.Source, Policy: b.m.Policy, KnownAt: fact.NoInstant,
	}
	if inner, ok := wrapped(v); ok {
		if err := b.refine(&a, field, v); err != nil {
			return err
		}
		v = inner
	}
	switch v.Kind {
	case jsonx.Null:
		return nil
	case jsonx.Array, jsonx.Object:
		b.noted.Ignored++
		return nil
	}
	var err error
	if a.Predicate, err = memory.Name(field, predicate); err != nil {
		return err
	}
	if a.Object, err = memory.Object(field, v); err != nil {
		return err
	}
	a.Confidence = min(a.Confidence, b.m.Most)
	b.list = append(b.list, a)
	return nil
}

// refine reads what a wrapped value says of itself.
func (b *builder) refine(a *fact.Assert, field string, v jsonx.Value) error {
	for i := range v.Kids {
		kid := v.Kids[i]
		path := field + "." + kid.Name
		var err error
		switch kid.Name {
		case "confidence":
			a.Confidence, err = Fraction(path, kid)
		case "valid_from":
			a.ValidFrom, err = b.instant(path, kid)
		case "valid_until":
			if a.ValidUntil, err = b.instant(path, kid); err == nil && !a.ValidUntil.Given() {
				a.ValidUntil = fact.Forever
			}
		}
		if err != nil {
			return err
		}
	}
	if a.ValidFrom.Given() && a.ValidFrom >= a.ValidUntil {
		return fact.Invalid(field+".valid_from", "must be before valid_until")
	}
	return nil
}

// instant reads a time in any form of C-1, and a year of four digits, which sources
// give for what is known no better, as its beginning. Null is no time.
func (b *builder) instant(path string, v jsonx.Value) (t fact.Instant, err error) {
	text := v.Text
	switch v.Kind {
	case jsonx.Null:
		return fact.NoInstant, nil
	case jsonx.Number:
		text = v.Raw
	case jsonx.String:
	default:
		return fact.NoInstant, fact.Invalid(path, "must be a time, not "+v.Kind.String())
	}
	switch {
	case isYear(text):
		return fact.ParseInstant(path, text+"-01-01")
	case v.Kind == jsonx.Number:
		t, err = fact.ParseMillisNumber(path, text)
	default:
		t, err = fact.ParseInstant(path, text)
	}
	if b.noted.Suspicion == "" && err == nil {
		b.noted.Suspicion = memory.Suspicion(path, text, t)
	}
	return t, err
}

func isYear(text string) bool {
	if len(text) != 4 || text[0] == '0' {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// Names lists the fields and predicates that the mapping names.
func (m *Mapping) Names() []string {
	var list []string
	for _, s := range m.fields {
		list = append(list, s.field, s.predicate)
	}
	return list
}

// Append writes a mapping as it is shown: what was left out stands as its default.
func (m *Mapping) Append(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"subject":`...), m.Subject)
	b = append(b, `,"fields":`...)
	b = m.appendFields(b)
	b = strconv.AppendFloat(append(b, `,"confidence":`...), m.Confidence, 'g', -1, 64)
	if m.ValidFrom != "" {
		b = jsonx.AppendString(append(b, `,"valid_from":`...), m.ValidFrom)
	}
	b = jsonx.AppendString(append(b, `,"policy":`...), m.Policy.String())
	return append(b, '}')
}

// appendFields writes a list where every field is its own predicate, and an object
// where one is not.
func (m *Mapping) appendFields(b []byte) []byte {
	renamed := slices.ContainsFunc(m.fields, func(s selected) bool { return s.field != s.predicate })
	open, shut := byte('['), byte(']')
	if renamed {
		open, shut = '{', '}'
	}
	b = append(b, open)
	for i, s := range m.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonx.AppendString(b, s.field)
		if renamed {
			b = jsonx.AppendString(append(b, ':'), s.predicate)
		}
	}
	return append(b, shut)
}
