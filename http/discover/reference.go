package discover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"abagraph/http/openapi"
)

// ContentSecurity lets the page use its own style and nothing else: it runs no script and
// fetches nothing.
const ContentSecurity = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// view is what the page shows of a document.
type view struct {
	Base, Version string
	Intro         []template.HTML
	Areas         []areaView
	Shared        []field
	Schemas       []schemaView
}

type areaView struct {
	Name        string
	Description template.HTML
	Operations  []operationView
}

type operationView struct {
	ID, Method, Path, Summary, Needs string
	Description                      []template.HTML
	Parameters                       []field
	Also                             []string // shared parameters
	Body                             *schemaView
	Answers                          []answerView
	Errors                           []errorView
	Example, Told                    string
}

type schemaView struct {
	Name        string
	Type        template.HTML
	Description template.HTML
	Fields      []field
	Optional    bool
}

type answerView struct {
	Status      int
	Description template.HTML
	Type        template.HTML
	Fields      []field
}

type errorView struct {
	Status int
	Name   string
}

// Reference is the description of the API as a page.
func (s *Site) Reference() ([]byte, error) {
	v := view{Base: s.Base, Version: s.Version, Intro: prose(s.API.Intro)}
	for _, a := range s.Areas() {
		area := areaView{Name: a.Name, Description: inline(a.Description)}
		for _, o := range a.Operations {
			area.Operations = append(area.Operations, s.operation(o))
		}
		v.Areas = append(v.Areas, area)
	}
	for _, name := range s.API.Parameters.Keys {
		v.Shared = append(v.Shared, parameter(s.API.Parameters.Child(name)))
	}
	for _, name := range s.API.Components.Keys {
		v.Schemas = append(v.Schemas, schema(name, s.API.Components.Child(name)))
	}
	page, err := template.ParseFS(texts, "texts/reference.html")
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	return b.Bytes(), nil
}

func (s *Site) operation(o *openapi.Operation) operationView {
	v := operationView{ID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: prose(o.Description), Example: s.curl(o)}
	if o.Told != nil {
		v.Told = indented(o.Told.Get("answer"))
	}
	switch access := s.API.AccessOf(o); {
	case access == openapi.Public:
		v.Needs = "public"
	case o.Role == "operator":
		v.Needs = "administrator"
	default:
		v.Needs = o.Role
	}
	for _, p := range o.Parameters {
		if ref := p.Text("$ref"); ref != "" {
			v.Also = append(v.Also, ref[strings.LastIndexByte(ref, '/')+1:])
			continue
		}
		v.Parameters = append(v.Parameters, parameter(p))
	}
	if o.Body != nil {
		body := schema("", o.Body)
		if ref := o.Body.Text("$ref"); ref != "" {
			body = schema("", s.component(ref))
			body.Type = typeOf(o.Body)
		}
		body.Optional = o.BodyOptional
		v.Body = &body
	}
	for _, a := range o.Answers {
		v.Answers = append(v.Answers, answer(a))
	}
	for _, status := range s.API.ErrorsOf(o) {
		v.Errors = append(v.Errors, errorView{status, http.StatusText(status)})
	}
	return v
}

func (s *Site) component(ref string) *openapi.Map {
	return s.API.Components.Child(ref[strings.LastIndexByte(ref, '/')+1:])
}

func answer(a openapi.Answer) answerView {
	v := answerView{Status: a.Status, Description: inline(a.Description)}
	switch {
	case a.Schema != nil && a.Type == "application/json":
		v.Type, v.Fields = typeOf(a.Schema), fields("", a.Schema, 0)
	case a.Type != "none":
		v.Type = inline("`" + a.Type + "`")
	}
	return v
}

func parameter(p *openapi.Map) field {
	return field{
		Name: p.Text("name"), In: p.Text("in"), Required: p.Get("required") == true,
		Type: typeOf(p.Child("schema")), Description: inline(p.Text("description")), Default: defaultOf(p.Child("schema")),
	}
}

func schema(name string, m *openapi.Map) schemaView {
	return schemaView{Name: name, Type: typeOf(m), Description: inline(m.Text("description")), Fields: fields("", m, 0)}
}

// curl is the example of an operation as a command.
func (s *Site) curl(o *openapi.Operation) string {
	if o.Example == nil {
		return ""
	}
	b := strings.Builder{}
	b.WriteString("curl -s ")
	if o.Method != http.MethodGet && (o.Method != http.MethodPost || o.Example.Get("body") == nil) {
		b.WriteString("-X " + o.Method + " ")
	}
	b.WriteString("'" + s.Base + o.ExampleTarget() + "'")
	if s.API.AccessOf(o) != openapi.Public {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $KEY\"")
	}
	if body := o.ExampleBody(); body != "" {
		b.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'")
	}
	return b.String()
}

// indented is JSON for people.
func indented(v any) string {
	text, err := openapi.Encode(v)
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return ""
	}
	return b.String()
}

// prose is Markdown of paragraphs, code and strong words.
func prose(text string) []template.HTML {
	var out []template.HTML
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, inline(part))
		}
	}
	return out
}

// inline is one paragraph. Everything is escaped; only `code` and **strong** mean something.
func inline(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	for _, kind := range [...][2]string{{"**", "strong"}, {"`", "code"}} {
		mark, tag := kind[0], kind[1]
		parts := strings.Split(escaped, mark)
		if len(parts)%2 == 0 {
			continue // a mark without its end is a text
		}
		var b strings.Builder
		for i, part := range parts {
			if i%2 == 1 {
				part = "<" + tag + ">" + part + "</" + tag + ">"
			}
			b.WriteString(part)
		}
		escaped = b.String()
	}
	return template.HTML(escaped)
}
