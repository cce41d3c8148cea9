package mask

import (
	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Assert masks what a statement says in words: a subject that is no entity
// reference, a text that is none, and the texts of its properties. Names of
// entities, numbers and blobs pass as they are. It returns a copy and counts what
// was masked.
func (m *Masker) Assert(a fact.Assert) (fact.Assert, int, error) {
	total := 0
	if _, _, ref := fact.SplitEntity(a.Subject); !ref {
		text, n := m.Text(a.Subject)
		a.Subject, total = text, total+n
	}
	if a.Object.Kind == fact.Text {
		if _, _, ref := fact.SplitEntity(a.Object.Text); !ref {
			text, n := m.Text(a.Object.Text)
			a.Object, total = fact.TextObject(text), total+n
		}
	}
	if len(a.Properties) == 0 {
		return a, total, nil
	}
	v, err := jsonx.Parse(a.Properties)
	if err != nil {
		return a, total, err
	}
	n := 0
	text := m.value(nil, &v, &n)
	if n > 0 {
		a.Properties = text
	}
	return a, total + n, nil
}

// value writes a value of JSON with its texts masked.
func (m *Masker) value(dst []byte, v *jsonx.Value, n *int) []byte {
	switch v.Kind {
	case jsonx.String:
		text, found := m.Text(v.Text)
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
