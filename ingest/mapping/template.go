package mapping

import (
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// part is a piece of a template: a text, or the field that stands there.
type part struct {
	text  string
	field string
}

// template makes a subject out of a record.
type template []part

// parseTemplate reads a subject template: $name and ${name} stand for fields; in
// braces a dot leads into an object.
func parseTemplate(path, text string) (template, error) {
	var t template
	rest := text
	for rest != "" {
		at := strings.IndexByte(rest, '$')
		if at < 0 {
			return append(t, part{text: rest}), nil
		}
		if at > 0 {
			t = append(t, part{text: rest[:at]})
		}
		field, after, ok := token(rest[at+1:])
		if !ok {
			return nil, fact.Invalid(path, "has a $ that names no field: write $name or ${name}")
		}
		t = append(t, part{field: field})
		rest = after
	}
	return t, nil
}

// token reads the name after a $.
func token(text string) (field, rest string, ok bool) {
	if inner, braced := strings.CutPrefix(text, "{"); braced {
		field, rest, ok = strings.Cut(inner, "}")
		return field, rest, ok && field != ""
	}
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return text[:n], text[n:], n > 0
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// fields lists the fields that the template consumes.
func (t template) fields() []string {
	var list []string
	for _, p := range t {
		if p.field != "" {
			list = append(list, p.field)
		}
	}
	return list
}

// fill puts a record's values into the template.
func (t template) fill(record jsonx.Value) (string, error) {
	if len(t) == 1 && t[0].field == "" {
		return t[0].text, nil
	}
	var b strings.Builder
	for _, p := range t {
		if p.field == "" {
			b.WriteString(p.text)
			continue
		}
		v, ok := lookup(record, p.field)
		if ok {
			v = plain(v)
		}
		switch v.Kind {
		case jsonx.String:
			b.WriteString(v.Text)
		case jsonx.Number, jsonx.Bool:
			b.WriteString(v.Raw)
		default:
			return "", fact.Invalid(p.field, "is needed for the subject, and the record has no such value")
		}
		if v.Kind == jsonx.String && v.Text == "" {
			return "", fact.Invalid(p.field, "is needed for the subject, and is empty")
		}
	}
	return b.String(), nil
}

// lookup finds a field: by its whole name, or else by a path of names with dots.
func lookup(record jsonx.Value, name string) (jsonx.Value, bool) {
	if v, ok := record.Field(name); ok {
		return v, true
	}
	head, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return jsonx.Value{}, false
	}
	inner, ok := record.Field(head)
	if !ok || inner.Kind != jsonx.Object {
		return jsonx.Value{}, false
	}
	return lookup(inner, rest)
}

// plain takes the value out of {"value": …}.
func plain(v jsonx.Value) jsonx.Value {
	if inner, ok := wrapped(v); ok {
		return inner
	}
	return v
}

// wrapped recognises a value that says more of itself: {"value", "confidence",
// "valid_from", "valid_until"}.
func wrapped(v jsonx.Value) (jsonx.Value, bool) {
	inner, ok := v.Field("value")
	if !ok {
		return jsonx.Value{}, false
	}
	for i := range v.Kids {
		switch v.Kids[i].Name {
		case "value", "confidence", "valid_from", "valid_until":
		default:
			return jsonx.Value{}, false
		}
	}
	return inner, true
}
