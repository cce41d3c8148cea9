package mask

import (
	"bytes"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Assert masks what a statement says in words: a subject that is no entity
// reference, a text that is none, its source, and the texts of its properties. Names
// of entities, numbers and blobs pass as they are. It counts what was masked. It
// never writes into the texts that it was given.
func (m *Masker) Assert(a *fact.Assert) (int, error) {
	if m.Mode == Off {
		return 0, nil
	}
	subject, total := m.Name(a.Subject)
	object, n := m.Object(a.Object)
	a.Subject, a.Object, total = subject, object, total+n
	if a.Source != nil {
		if text, n := m.Source(*a.Source); n > 0 {
			source := text // only a source that was masked is kept
			a.Source, total = &source, total+n
		}
	}
	properties, n, err := m.JSON(a.Properties)
	if err != nil {
		return total, err
	}
	a.Properties = properties
	return total + n, nil
}

// Name masks a subject, unless it is an entity reference.
func (m *Masker) Name(name string) (string, int) {
	if clean(name) || isEntity(name) {
		return name, 0
	}
	return m.Text(name)
}

// Object masks a text, unless it is an entity reference. Every other value passes
// as it is.
func (m *Masker) Object(o fact.Object) (fact.Object, int) {
	if o.Kind != fact.Text || clean(o.Text) || isEntity(o.Text) {
		return o, 0
	}
	text, n := m.Text(o.Text)
	if n == 0 {
		return o, 0
	}
	return fact.TextObject(text), n
}

// Source masks where a statement comes from. Sources are compared with one another,
// so that in every mode a hash stands in place of what was found.
func (m *Masker) Source(source string) (string, int) {
	if clean(source) {
		return source, 0
	}
	hashed := *m
	if m.Mode != Off {
		hashed.Mode = Hash
	}
	return hashed.Text(source)
}

// JSON masks the texts within a value of JSON; entity references, names of fields,
// numbers and everything else pass as they are. Where nothing was masked it is the very same.
func (m *Masker) JSON(raw []byte) ([]byte, int, error) {
	if len(raw) == 0 || m.Mode == Off || !bytes.Contains(raw, []byte(`\u`)) && clean(raw) {
		return raw, 0, nil
	}
	v, err := jsonx.Parse(raw)
	if err != nil {
		return raw, 0, err
	}
	n := 0
	text := m.value(nil, &v, &n)
	if n == 0 {
		return raw, 0, nil
	}
	return text, n, nil
}

// schemes are the kinds of names that are no entities but addresses themselves.
var schemes = [...]string{"mailto", "tel", "sms", "callto", "sip", "sips", "xmpp"}

// isEntity reports whether a text is a reference to an entity and no address.
func isEntity(text string) bool {
	kind, _, ok := fact.SplitEntity(text)
	if !ok {
		return false
	}
	for _, scheme := range schemes {
		if strings.EqualFold(kind, scheme) {
			return false
		}
	}
	return true
}

// value writes a value of JSON with its texts masked.
func (m *Masker) value(dst []byte, v *jsonx.Value, n *int) []byte {
	switch v.Kind {
	case jsonx.String:
		text, found := m.Name(v.Text)
		*n += found
		return jsonx.AppendString(dst, text)
	case jsonx.Array:
		dst = append(dst, '[')
		for i := range v.Kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = m.value(dst, &v.Kids[i], n)
		}
		return append(dst, ']')
	case jsonx.Object:
		dst = append(dst, '{')
		for i := range v.Kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonx.AppendString(dst, v.Kids[i].Name), ':')
			dst = m.value(dst, &v.Kids[i], n)
		}
		return append(dst, '}')
	}
	return append(dst, v.Raw...)
}
