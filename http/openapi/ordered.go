package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Map is an object of JSON that keeps the order of its fields.
type Map struct {
	Keys   []string
	values map[string]any
}

// NewMap makes an object of pairs of a name and a value.
func NewMap(pairs ...any) *Map {
	m := &Map{values: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Set(pairs[i].(string), pairs[i+1])
	}
	return m
}

// Get returns a field, or nil.
func (m *Map) Get(key string) any {
	if m == nil {
		return nil
	}
	return m.values[key]
}

// Text returns a field that is a text, or "".
func (m *Map) Text(key string) string {
	text, _ := m.Get(key).(string)
	return text
}

// Has reports whether a field is there.
func (m *Map) Has(key string) bool {
	if m == nil {
		return false
	}
	_, ok := m.values[key]
	return ok
}

// Set sets a field, at the end if it is new.
func (m *Map) Set(key string, value any) {
	if _, known := m.values[key]; !known {
		m.Keys = append(m.Keys, key)
	}
	m.values[key] = value
}

// Clone copies the object itself, not what it holds.
func (m *Map) Clone() *Map {
	c := NewMap()
	for _, key := range m.Keys {
		c.Set(key, m.values[key])
	}
	return c
}

// Child returns a field that is an object, or an empty one.
func (m *Map) Child(key string) *Map {
	if c, ok := m.Get(key).(*Map); ok {
		return c
	}
	return NewMap()
}

// MarshalJSON writes the fields in their order.
func (m *Map) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range m.Keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := Encode(key)
		if err != nil {
			return nil, err
		}
		value, err := Encode(m.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Encode is JSON without the escapes that are meant for pages.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// parseYAML reads one file as ordered objects, lists, texts, numbers, booleans and nil.
func parseYAML(name string, text []byte) (*Map, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(root.Content) != 1 {
		return nil, fmt.Errorf("%s: is empty", name)
	}
	v, err := fromNode(root.Content[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, ok := v.(*Map)
	if !ok {
		return nil, fmt.Errorf("%s: must be a mapping", name)
	}
	return m, nil
}

func fromNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := NewMap()
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if m.Has(key) {
				return nil, fmt.Errorf("line %d: %s is there twice", n.Content[i].Line, key)
			}
			value, err := fromNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m.Set(key, value)
		}
		return m, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, kid := range n.Content {
			value, err := fromNode(kid)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, fmt.Errorf("line %d: aliases and other extras of YAML are not known here", n.Line)
}

func scalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strconv.ParseBool(n.Value)
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			return nil, fmt.Errorf("line %d: write the number as JSON does", n.Line)
		}
		return json.Number(n.Value), nil
	}
	return n.Value, nil
}
