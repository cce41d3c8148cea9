package openapi

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed spec/*.yaml spec/answers/*.json
var files embed.FS

// shared is the file of what all areas use.
const shared = "shared.yaml"

// Operation is one route as it is described.
type Operation struct {
	Method, Path string // such as GET and /api/facts/{id}
	ID           string
	Tag          string
	Summary      string
	Description  string
	Role         string // read, write, admin, operator
	Parameters   []*Map
	Body         *Map // its schema, or nil
	BodyOptional bool
	BodyType     string
	Answers      []Answer
	Errors       []int // beside those that every such route has
	Explains     bool  // whether explain wraps the answer
	Tenanted     bool  // whether tenant= names the tenant
	Writes       bool
	Past         bool   // whether it reads at a record time
	Example      *Map   // the request of its example, with before, path, query and body
	NoExample    string // why it has none
	Told         *Map   // what the example was answered: status and answer
	file         string
}

// Answer is one of an operation that is no error.
type Answer struct {
	Status      int
	Description string
	Schema      *Map // nil: no body, or one that is no JSON
	Type        string
	Also        string // another type of content that it may have, or ""
	Headers     []string
}

// Tag is an area.
type Tag struct{ Name, Description string }

// Spec is the description of every route, whether a server has it or not.
type Spec struct {
	Operations []*Operation
	Tags       []Tag
	Components *Map // the schemas, expanded
	Parameters *Map
	Headers    *Map
	Responses  *Map // those of errors, by their status
	intro      string
	errors     *Map // by status
}

// reader gathers the files before their schemas are expanded.
type reader struct {
	spec     *Spec
	areas    map[string]*Map
	names    []string
	raw      map[string]any
	inputs   map[string]bool
	order    []string
	growing  map[string]bool
	done     map[string]*Map
	groups   *Map
	problems []string
}

// Load reads the description that is part of the program.
func Load() (*Spec, error) {
	sub, err := fs.Sub(files, "spec")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return load(sub)
}

func load(from fs.FS) (*Spec, error) {
	r := &reader{
		spec: &Spec{Components: NewMap()}, areas: map[string]*Map{}, raw: map[string]any{}, inputs: map[string]bool{},
		growing: map[string]bool{}, done: map[string]*Map{},
	}
	names, err := fs.Glob(from, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("openapi: read %s: %w", name, err)
		}
		area, err := parseYAML(path.Base(name), text)
		if err != nil {
			return nil, fmt.Errorf("openapi: %w", err)
		}
		r.areas[name] = area
		r.names = append(r.names, name)
	}
	r.gather()
	r.expandComponents()
	r.shared()
	for _, name := range r.names {
		if name != shared {
			r.area(name)
		}
	}
	r.readAnswers(from)
	if len(r.problems) > 0 {
		return nil, fmt.Errorf("openapi: %s", strings.Join(r.problems, "\n"))
	}
	r.sort()
	return r.spec, nil
}

func (r *reader) fail(file, format string, args ...any) {
	r.problems = append(r.problems, "http/openapi/spec/"+file+": "+fmt.Sprintf(format, args...))
}

// gather collects the schemas of all files, before any is expanded.
func (r *reader) gather() {
	for _, name := range r.names {
		for _, part := range []string{"schemas", "inputs"} {
			list := r.areas[name].Child(part)
			for _, schema := range list.Keys {
				if _, twice := r.raw[schema]; twice {
					r.fail(name, "the schema %s is there twice", schema)
				}
				r.raw[schema], r.inputs[schema] = list.Get(schema), part == "inputs"
				r.order = append(r.order, schema)
			}
		}
	}
}

// language is the shorthand of what goes out, or of what comes in.
func (r *reader) language(inputs bool) schemas {
	return schemas{known: func(name string) bool { _, ok := r.raw[name]; return ok }, component: r.component, closed: inputs}
}

func (r *reader) component(name string) (*Map, error) {
	if m, ok := r.done[name]; ok {
		return m, nil
	}
	raw, ok := r.raw[name]
	if !ok {
		return nil, fmt.Errorf("%s is no schema", name)
	}
	if r.growing[name] {
		return nil, fmt.Errorf("%s extends itself", name)
	}
	r.growing[name] = true
	m, err := r.language(r.inputs[name]).expand(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.done[name] = m
	return m, nil
}

func (r *reader) expandComponents() {
	slices.Sort(r.order)
	for _, name := range r.order {
		m, err := r.component(name)
		if err != nil {
			r.fail("*", "schema %v", err)
			continue
		}
		r.spec.Components.Set(name, m)
	}
}

// shared reads what all areas use: parameters, groups of them, headers, errors.
func (r *reader) shared() {
	all := r.areas[shared]
	if all == nil {
		r.fail(shared, "is not there")
		return
	}
	r.spec.intro = all.Text("intro")
	r.spec.errors = all.Child("errors")
	r.groups = all.Child("groups")
	r.spec.Parameters, r.spec.Headers = NewMap(), NewMap()
	for _, in := range []string{"query", "header"} {
		list := all.Child(in)
		for _, key := range list.Keys {
			r.spec.Parameters.Set(strings.TrimSuffix(key, "?"), r.parameter(shared, in, key, list.Get(key)))
		}
	}
	headers := all.Child("headers")
	for _, name := range headers.Keys {
		m, err := r.language(false).expand(headers.Get(name))
		if err != nil {
			r.fail(shared, "header %s: %v", name, err)
			continue
		}
		r.spec.Headers.Set(name, described(NewMap(), m))
	}
}

// described moves the description of a schema to what holds the schema.
func described(into, schema *Map) *Map {
	rest := NewMap()
	for _, key := range schema.Keys {
		switch key {
		case "description":
			into.Set("description", schema.Get(key))
		case "example":
			into.Set("example", schema.Get(key))
		default:
			rest.Set(key, schema.Get(key))
		}
	}
	into.Set("schema", rest)
	return into
}

func (r *reader) parameter(file, in, key string, v any) *Map {
	name, optional := strings.CutSuffix(key, "?")
	p := NewMap("name", name, "in", in)
	if !optional || in == "path" {
		p.Set("required", true)
	}
	schema, err := r.language(false).expand(v)
	if err != nil {
		r.fail(file, "%s parameter %s: %v", in, name, err)
		return p
	}
	return described(p, schema)
}

// sort puts the areas into the order that the shared file gives, and the routes of each
// into that of its file.
func (r *reader) sort() {
	order, _ := r.areas[shared].Get("order").([]any)
	place := func(tag string) int {
		if i := slices.Index(order, any(tag)); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(r.spec.Tags, func(a, b Tag) int { return place(a.Name) - place(b.Name) })
	slices.SortStableFunc(r.spec.Operations, func(a, b *Operation) int { return place(a.Tag) - place(b.Tag) })
}

// codes lists the statuses of a list.
func codes(v any) ([]int, error) {
	list, ok := v.([]any)
	if v != nil && !ok {
		return nil, fmt.Errorf("must be a list of statuses")
	}
	var out []int
	for _, one := range list {
		n, err := strconv.Atoi(fmt.Sprint(one))
		if err != nil || n < 400 || n > 599 {
			return nil, fmt.Errorf("%v is no status of an error", one)
		}
		out = append(out, n)
	}
	return out, nil
}
