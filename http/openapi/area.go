package openapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// keys are what an area and a route may say; a misspelt one is refused.
var (
	areaKeys  = []string{"tag", "description", "routes", "schemas", "inputs"}
	routeKeys = []string{"id", "summary", "description", "role", "uses", "path", "query", "header", "body", "body?", "body_type", "errors", "headers", "explain", "tenant", "also", "example", "no_example"}
)

var (
	aPlace  = regexp.MustCompile(`\{([a-z_]+)\}`)
	aStatus = regexp.MustCompile(`^[1-5][0-9][0-9]$`)
)

// area reads one file of routes.
func (r *reader) area(file string) {
	all := r.areas[file]
	for _, key := range all.Keys {
		if !slices.Contains(areaKeys, key) {
			r.fail(file, "%s is not known; a file has %s", key, strings.Join(areaKeys, ", "))
		}
	}
	tag := all.Text("tag")
	if tag == "" {
		r.fail(file, "needs a tag: the name of its area")
	}
	r.spec.Tags = append(r.spec.Tags, Tag{Name: tag, Description: oneLine(all.Text("description"))})
	routes := all.Child("routes")
	for _, key := range routes.Keys {
		body, ok := routes.Get(key).(*Map)
		if !ok {
			r.fail(file, "%s: must be a mapping", key)
			continue
		}
		o := r.operation(file, tag, key, body)
		r.spec.Operations = append(r.spec.Operations, o)
		also, _ := body.Get("also").([]any)
		for i, other := range also { // the same under another path
			twin := *o
			twin.Method, twin.Path, _ = strings.Cut(fmt.Sprint(other), " ")
			twin.ID = o.ID + strconv.Itoa(i+2)
			r.spec.Operations = append(r.spec.Operations, &twin)
		}
	}
}

func (r *reader) operation(file, tag, key string, m *Map) *Operation {
	o := &Operation{
		ID: m.Text("id"), Tag: tag, Summary: m.Text("summary"), Description: strings.TrimSpace(m.Text("description")),
		Role: m.Text("role"), NoExample: m.Text("no_example"), Explains: m.Get("explain") != false, Tenanted: m.Get("tenant") != false, BodyType: m.Text("body_type"), file: file,
	}
	o.Method, o.Path, _ = strings.Cut(key, " ")
	bad := func(format string, args ...any) { r.fail(file, key+": "+format, args...) }
	if o.ID == "" || o.Summary == "" {
		bad("needs an id and a summary")
	}
	for _, k := range m.Keys {
		if !slices.Contains(routeKeys, k) && !aStatus.MatchString(k) {
			bad("%s is not known; a route has %s and its statuses, such as 200", k, strings.Join(routeKeys, ", "))
		}
	}
	if o.Role == "" {
		o.Role = "read"
	}
	if m.Has("example") {
		o.Example = m.Child("example")
	}
	r.parameters(o, m, bad)
	r.body(o, m, bad)
	r.answers(o, m, bad)
	var err error
	if o.Errors, err = codes(m.Get("errors")); err != nil {
		bad("errors: %v", err)
	}
	return o
}

func (r *reader) parameters(o *Operation, m *Map, bad func(string, ...any)) {
	for _, name := range aPlace.FindAllStringSubmatch(o.Path, -1) {
		v := m.Child("path").Get(name[1])
		if v == nil {
			bad("path: needs a line for %s", name[1])
			continue
		}
		o.Parameters = append(o.Parameters, r.parameter(o.file, "path", name[1], v))
	}
	for _, in := range []string{"query", "header"} {
		list := m.Child(in)
		for _, key := range list.Keys {
			o.Parameters = append(o.Parameters, r.parameter(o.file, in, key, list.Get(key)))
		}
	}
	uses, _ := m.Get("uses").([]any)
	seen := map[string]bool{}
	for _, name := range uses {
		r.use(o, fmt.Sprint(name), seen, bad)
	}
}

// use adds a shared parameter, or those of a group.
func (r *reader) use(o *Operation, name string, seen map[string]bool, bad func(string, ...any)) {
	if seen[name] {
		return
	}
	seen[name] = true
	switch name {
	case "Idempotency-Key":
		o.Writes = true
	case "known_at":
		o.Past = true
	}
	if group, ok := r.groups.Get(name).([]any); ok {
		for _, member := range group {
			r.use(o, fmt.Sprint(member), seen, bad)
		}
		return
	}
	if !r.spec.Parameters.Has(name) {
		bad("uses %s, which spec/%s does not have", name, shared)
		return
	}
	o.Parameters = append(o.Parameters, NewMap("$ref", "#/components/parameters/"+name))
}

func (r *reader) body(o *Operation, m *Map, bad func(string, ...any)) {
	for _, key := range []string{"body", "body?"} {
		if !m.Has(key) {
			continue
		}
		schema, err := r.language(true).expand(m.Get(key))
		if err != nil {
			bad("%s: %v", key, err)
			continue
		}
		o.Body, o.BodyOptional = schema, key == "body?"
	}
	if o.BodyType == "" {
		o.BodyType = "application/json"
	}
}

func (r *reader) answers(o *Operation, m *Map, bad func(string, ...any)) {
	var headers []string
	list, _ := m.Get("headers").([]any)
	for _, name := range list {
		if !r.spec.Headers.Has(fmt.Sprint(name)) {
			bad("headers: %v is not among the headers of spec/%s", name, shared)
		}
		headers = append(headers, fmt.Sprint(name))
	}
	for _, key := range m.Keys {
		if !aStatus.MatchString(key) {
			continue
		}
		status, _ := strconv.Atoi(key)
		a := Answer{Status: status, Type: "application/json", Headers: headers}
		v := m.Get(key)
		if spec, ok := v.(*Map); ok && spec.Has("content") {
			a.Type, a.Also, a.Description = spec.Text("content"), spec.Text("also"), spec.Text("description")
			if v = spec.Get("schema"); v == nil {
				o.Answers = append(o.Answers, a)
				continue
			}
		}
		schema, err := r.language(false).expand(v)
		if err != nil {
			bad("%s: %v", key, err)
			continue
		}
		if text := schema.Text("description"); text != "" {
			a.Description = text
		}
		a.Schema = schema
		o.Answers = append(o.Answers, a)
	}
	if len(o.Answers) == 0 {
		bad("needs at least one answer, such as 200")
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
