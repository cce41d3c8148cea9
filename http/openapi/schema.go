package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// types are the words of the shorthand that are types of JSON; any is every value.
var types = []string{"string", "integer", "number", "boolean", "object", "null"}

// neverNull marks, while a schema is expanded, a field that may be absent and not null
// (TYPE! in the shorthand). Elsewhere null means absent in what comes in (C-43).
const neverNull = "!"

// bounds is a range such as 0..100, 1.. or ..64.
var bounds = regexp.MustCompile(`^(-?[0-9.]*?)\.\.(-?[0-9.]*)$`)

// schemas expands shorthand. extends looks up a component whose fields an object takes
// over.
type schemas struct {
	known     func(name string) bool
	component func(name string) (*Map, error)
	closed    bool // objects with fields take no others
}

// expand makes JSON Schema of a schema in any of its spellings.
func (s schemas) expand(v any) (*Map, error) {
	switch v := v.(type) {
	case string:
		return s.short(v)
	case *Map:
		return s.long(v)
	case bool:
		if v {
			return NewMap(), nil
		}
	}
	return nil, fmt.Errorf("%v is no schema", v)
}

// short reads "TYPE BOUNDS = DEFAULT - description".
func (s schemas) short(text string) (*Map, error) {
	head, description, _ := strings.Cut(" "+text, " - ")
	words := strings.Fields(head)
	if len(words) == 0 {
		return nil, fmt.Errorf("%q names no type", text)
	}
	m, err := s.named(words[0])
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	for i := 1; i < len(words); i++ {
		switch found := bounds.FindStringSubmatch(words[i]); {
		case found != nil:
			bound(m, words[0], found[1], found[2])
		case words[i] == "=" && i+1 < len(words):
			i++
			m.Set("default", value(words[i]))
		default:
			return nil, fmt.Errorf("%q: what is %q?", text, words[i])
		}
	}
	if description != "" {
		m.Set("description", strings.TrimSpace(description))
	}
	return m, nil
}

// named reads a type, a component, a list of one, words, each also with null.
func (s schemas) named(word string) (*Map, error) {
	if inner, ok := strings.CutSuffix(word, "!"); ok {
		m, err := s.named(inner)
		if err == nil {
			m.Set(neverNull, true)
		}
		return m, err
	}
	if inner, ok := strings.CutSuffix(word, "?"); ok {
		m, err := s.named(inner)
		if err != nil {
			return nil, err
		}
		return nullable(m), nil
	}
	if inner, ok := strings.CutSuffix(word, "[]"); ok {
		items, err := s.named(inner)
		return NewMap("type", "array", "items", items), err
	}
	switch {
	case word == "any":
		return NewMap(), nil
	case slices.Contains(types, word):
		return NewMap("type", word), nil
	case strings.Contains(word, "|"):
		var words []any
		for one := range strings.SplitSeq(word, "|") {
			words = append(words, one)
		}
		return NewMap("type", "string", "enum", words), nil
	}
	if !s.known(word) {
		return nil, fmt.Errorf("%s is neither a type nor the name of a schema", word)
	}
	return NewMap("$ref", "#/components/schemas/"+word), nil
}

// nullable is a schema that takes null, too. It keeps the description outermost.
func nullable(m *Map) *Map {
	if len(without(m, "description").Keys) == 0 {
		return m // it takes anything
	}
	if kind := m.Text("type"); kind != "" && !m.Has("enum") {
		m.Set("type", []any{kind, "null"})
		return m
	}
	out := NewMap("anyOf", []any{without(m, "description", "default"), NewMap("type", "null")})
	for _, key := range []string{"description", "default"} {
		if m.Has(key) {
			out.Set(key, m.Get(key))
		}
	}
	return out
}

func without(m *Map, keys ...string) *Map {
	out := NewMap()
	for _, key := range m.Keys {
		if !slices.Contains(keys, key) {
			out.Set(key, m.Get(key))
		}
	}
	return out
}

// bound sets the range of a number, of a text's length or of a list's.
func bound(m *Map, word, low, high string) {
	least, most := "minimum", "maximum"
	switch {
	case strings.HasSuffix(word, "[]"):
		least, most = "minItems", "maxItems"
	case strings.HasPrefix(word, "string"):
		least, most = "minLength", "maxLength"
	}
	if low != "" {
		m.Set(least, json.Number(low))
	}
	if high != "" {
		m.Set(most, json.Number(high))
	}
}

// value reads a default: JSON where it is JSON, else a text.
func value(text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) == nil {
		return v
	}
	return text
}

// long expands a mapping: fields is an object, everything else is JSON Schema in which
// schemas may again be short.
func (s schemas) long(m *Map) (*Map, error) {
	if m.Has("fields") {
		return s.object(m)
	}
	out := NewMap()
	for _, key := range m.Keys {
		v, err := s.keyword(key, m.Get(key))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out.Set(key, v)
	}
	return out, nil
}

func (s schemas) keyword(key string, v any) (any, error) {
	switch key {
	case "items", "additionalProperties", "not", "propertyNames":
		if closed, ok := v.(bool); ok {
			return closed, nil
		}
		return s.expand(v)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("must be a list")
		}
		out := make([]any, 0, len(list))
		for _, one := range list {
			m, err := s.expand(one)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
		}
		return out, nil
	case "properties":
		fields, ok := v.(*Map)
		if !ok {
			return nil, fmt.Errorf("must be a mapping")
		}
		out := NewMap()
		for _, name := range fields.Keys {
			m, err := s.expand(fields.Get(name))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out.Set(name, m)
		}
		return out, nil
	case "$ref":
		ref, err := s.named(fmt.Sprint(v))
		if err != nil {
			return nil, err
		}
		return ref.Get("$ref"), nil
	}
	return v, nil
}

// object expands fields, and takes over those of the components that it extends.
func (s schemas) object(m *Map) (*Map, error) {
	fields, required := NewMap(), []any{}
	if base := m.Text("extends"); base != "" {
		from, err := s.component(base)
		if err != nil {
			return nil, fmt.Errorf("extends %s: %w", base, err)
		}
		properties := from.Child("properties")
		for _, name := range properties.Keys {
			fields.Set(name, properties.Get(name))
		}
		list, _ := from.Get("required").([]any)
		required = append(required, list...)
	}
	named := m.Child("fields")
	for _, name := range named.Keys {
		field, err := s.expand(named.Get(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		name, optional := strings.CutSuffix(name, "?")
		if never := field.Has(neverNull); never {
			field = without(field, neverNull)
		} else if optional && s.closed {
			field = nullable(field)
		}
		fields.Set(name, field)
		if !optional && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	out := NewMap("type", "object")
	for _, key := range m.Keys {
		switch key {
		case "fields", "extends":
		default:
			out.Set(key, m.Get(key))
		}
	}
	if len(required) > 0 {
		out.Set("required", required)
	}
	out.Set("properties", fields)
	if s.closed && !out.Has("additionalProperties") {
		out.Set("additionalProperties", false)
	}
	return out, nil
}
