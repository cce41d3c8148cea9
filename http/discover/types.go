package discover

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"abagraph/http/openapi"
)

// field is a row of a table: a parameter, or a field of an object.
type field struct {
	Name, In, Default string
	Required          bool
	Type, Description template.HTML
}

// deepest is how far objects within objects are shown as rows of one table.
const deepest = 2

// fields lists those of an object, and of objects that are written out within it.
func fields(prefix string, m *openapi.Map, depth int) []field {
	var rows []field
	required, _ := m.Get("required").([]any)
	properties := m.Child("properties")
	if items := m.Child("items"); m.Text("type") == "array" && items.Has("properties") {
		return fields(prefix+"[].", items, depth)
	}
	for _, name := range properties.Keys {
		p := properties.Child(name)
		rows = append(rows, field{
			Name: prefix + name, Required: slices.Contains(required, any(name)),
			Type: typeOf(p), Description: inline(p.Text("description")), Default: defaultOf(p),
		})
		if depth >= deepest {
			continue
		}
		switch items := p.Child("items"); {
		case p.Has("properties"):
			rows = append(rows, fields(prefix+name+".", p, depth+1)...)
		case items.Has("properties"):
			rows = append(rows, fields(prefix+name+"[].", items, depth+1)...)
		}
	}
	return rows
}

func defaultOf(m *openapi.Map) string {
	if !m.Has("default") {
		return ""
	}
	return fmt.Sprint(m.Get("default"))
}

// typeOf says in a few words what a schema takes.
func typeOf(m *openapi.Map) template.HTML { return template.HTML(typeText(m)) }

func typeText(m *openapi.Map) string {
	if ref := m.Text("$ref"); ref != "" {
		name := template.HTMLEscapeString(ref[strings.LastIndexByte(ref, '/')+1:])
		return `<a href="#schema-` + name + `">` + name + `</a>`
	}
	if list, ok := m.Get("anyOf").([]any); ok {
		return oneOf(list)
	}
	if m.Has("const") {
		return "<code>" + literal(m.Get("const")) + "</code>"
	}
	if list, ok := m.Get("enum").([]any); ok {
		words := make([]string, 0, len(list))
		for _, one := range list {
			words = append(words, "<code>"+template.HTMLEscapeString(fmt.Sprint(one))+"</code>")
		}
		return strings.Join(words, " ")
	}
	switch kind := m.Get("type").(type) {
	case string:
		if kind == "array" {
			inner := typeText(m.Child("items"))
			if strings.Contains(inner, " ") && !strings.HasPrefix(inner, "<a") {
				return "array of (" + inner + ")" + rangeOf(m)
			}
			return inner + "[]" + rangeOf(m)
		}
		return kind + rangeOf(m)
	case []any:
		words := make([]string, 0, len(kind))
		for _, one := range kind {
			words = append(words, fmt.Sprint(one))
		}
		return strings.Join(words, " or ") + rangeOf(m)
	}
	return "any"
}

func oneOf(list []any) string {
	var parts []string
	for _, one := range list {
		if m, ok := one.(*openapi.Map); ok {
			if text := typeText(m); !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, " or ")
}

func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return template.HTMLEscapeString(string(b))
}

// rangeOf tells the bounds of a number, a text or a list.
func rangeOf(m *openapi.Map) string {
	for _, pair := range [...][3]string{{"minimum", "maximum", ""}, {"minLength", "maxLength", " characters"}, {"minItems", "maxItems", " items"}} {
		low, high := m.Get(pair[0]), m.Get(pair[1])
		switch {
		case low != nil && high != nil:
			return fmt.Sprintf(", %v to %v%s", low, high, pair[2])
		case low != nil:
			return fmt.Sprintf(", from %v%s", low, pair[2])
		case high != nil:
			return fmt.Sprintf(", up to %v%s", high, pair[2])
		}
	}
	return ""
}
