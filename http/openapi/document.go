package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Route is a line of the server's table of routes.
type Route struct {
	Method   string
	Template string // as the router writes it: /api/facts/:id, /api/entities/*
	Access   Access
}

// Access says who may come in.
type Access uint8

// The ways to come in.
const (
	Keyed     Access = iota // with a key
	Public                  // anyone
	Discovery               // with a key; without any, a challenge
)

// Document is the OpenAPI document of one server.
type Document struct {
	Tags       []Tag
	Operations []*Operation
	// Components are the schemas, Parameters those that operations share.
	Components, Parameters *Map
	Intro                  string
	JSON                   []byte
	access                 map[*Operation]Access
	errors                 func(*Operation) []int
}

// AccessOf tells who may come in.
func (d *Document) AccessOf(o *Operation) Access { return d.access[o] }

// ErrorsOf lists the statuses of an operation that are errors.
func (d *Document) ErrorsOf(o *Operation) []int { return d.errors(o) }

// matches reports whether a described path is that of a template of the router.
func matches(path, template string) bool {
	a, b := strings.Split(path, "/"), strings.Split(template, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		place := strings.HasPrefix(a[i], "{")
		switch {
		case b[i] == "*":
			if !place {
				return false
			}
		case strings.HasPrefix(b[i], ":"):
			if a[i] != "{"+b[i][1:]+"}" {
				return false
			}
		case a[i] != b[i]:
			return false
		}
	}
	return true
}

// of finds the description of a route.
func (s *Spec) of(rt Route) *Operation {
	for _, o := range s.Operations {
		if o.Method == rt.Method && matches(o.Path, rt.Template) {
			return o
		}
	}
	return nil
}

// Problems compares the description with the routes of a server that has all of them:
// each route is described, and nothing else is.
func (s *Spec) Problems(routes []Route) (problems []string) {
	described := map[*Operation]bool{}
	for _, rt := range routes {
		o := s.of(rt)
		if o == nil {
			problems = append(problems, fmt.Sprintf("%s %s is not described: add it under routes: to the file of its area in http/openapi/spec "+
				"(http/openapi/doc.go shows the form; a path writes {id} for :id, and a name of yours in braces for *)", rt.Method, rt.Template))
			continue
		}
		described[o] = true
	}
	ids := map[string]string{}
	for _, o := range s.Operations {
		if !described[o] {
			problems = append(problems, fmt.Sprintf("http/openapi/spec/%s describes %s %s, which is no route: http/routes.go has no such line (is :name in the router another {name} here?)", o.file, o.Method, o.Path))
		}
		if other, twice := ids[o.ID]; twice {
			problems = append(problems, fmt.Sprintf("http/openapi/spec/%s: %s %s has the id %s, which %s has", o.file, o.Method, o.Path, o.ID, other))
		}
		ids[o.ID] = o.Method + " " + o.Path
	}
	return problems
}

// Document describes the routes of one server.
func (s *Spec) Document(routes []Route, version string) (*Document, error) {
	access := map[*Operation]Access{}
	d := &Document{Components: s.Components, Parameters: s.Parameters, Intro: s.intro, access: access}
	d.errors = func(o *Operation) []int { return s.ErrorsOf(o, access[o]) }
	for _, rt := range routes {
		if o := s.of(rt); o != nil {
			access[o] = rt.Access
		}
	}
	paths, tags := NewMap(), []any{}
	for _, o := range s.Operations {
		if _, there := access[o]; !there {
			continue
		}
		d.Operations = append(d.Operations, o)
		if !paths.Has(o.Path) {
			paths.Set(o.Path, NewMap())
		}
		paths.Child(o.Path).Set(strings.ToLower(o.Method), s.operation(o, access[o]))
	}
	for _, tag := range s.Tags {
		if slices.ContainsFunc(d.Operations, func(o *Operation) bool { return o.Tag == tag.Name }) {
			d.Tags = append(d.Tags, tag)
			tags = append(tags, NewMap("name", tag.Name, "description", tag.Description))
		}
	}
	all := NewMap(
		"openapi", "3.1.0",
		"info", NewMap("title", "abagraph", "version", version, "summary", "Bitemporal, source-backed memory for AI agents", "description", s.intro),
		"servers", []any{NewMap("url", "/")},
		"security", []any{NewMap("bearer", []any{}), NewMap("session", []any{}), NewMap()},
		"tags", tags,
		"paths", paths,
		"components", NewMap(
			"securitySchemes", NewMap(
				"bearer", NewMap("type", "http", "scheme", "bearer", "description", "A key: the administrator's, or one that `POST /api/tenants` made."),
				"session", NewMap("type", "apiKey", "in", "cookie", "name", "abagraph_session", "description", "What `POST /api/session` sets."),
			),
			"schemas", s.Components, "parameters", s.Parameters, "headers", s.Headers, "responses", s.responses(),
		),
	)
	var err error
	if d.JSON, err = Encode(all); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return d, nil
}

func (s *Spec) operation(o *Operation, access Access) *Map {
	m := NewMap("operationId", o.ID, "tags", []any{o.Tag}, "summary", o.Summary)
	text := o.Description
	if access == Keyed && o.Role != "read" {
		text = strings.TrimSpace(text + "\n\nNeeds " + needs(o.Role) + ".")
	}
	if text != "" {
		m.Set("description", text)
	}
	if access == Public {
		m.Set("security", []any{})
	}
	if list := s.parametersOf(o, access); len(list) > 0 {
		m.Set("parameters", list)
	}
	if o.Body != nil {
		media := NewMap("schema", o.Body)
		if example := o.Example.Get("body"); example != nil {
			media.Set("example", example)
		}
		body := NewMap("required", !o.BodyOptional, "content", NewMap(o.BodyType, media))
		m.Set("requestBody", body)
	}
	responses := NewMap()
	for _, a := range o.Answers {
		responses.Set(strconv.Itoa(a.Status), s.answer(o, a, access))
	}
	for _, status := range s.ErrorsOf(o, access) {
		responses.Set(strconv.Itoa(status), NewMap("$ref", "#/components/responses/"+responseName(status)))
	}
	m.Set("responses", responses)
	return m
}

func needs(role string) string {
	switch role {
	case "operator":
		return "the administrator's key"
	case "admin":
		return "a key of role `admin`"
	}
	return "a key of role `" + role + "` or more"
}

// parametersOf are those of an operation, and those that every route has.
func (s *Spec) parametersOf(o *Operation, access Access) []any {
	var list []any
	for _, p := range o.Parameters {
		list = append(list, p)
	}
	if o.Explains {
		list = append(list, NewMap("$ref", "#/components/parameters/explain"))
	}
	if access != Public && o.Tenanted {
		list = append(list, NewMap("$ref", "#/components/parameters/tenant"))
	}
	return list
}

// ErrorsOf lists the statuses of the errors that an operation may answer.
func (s *Spec) ErrorsOf(o *Operation, access Access) []int {
	list := append([]int{400, 403, 500}, o.Errors...)
	if access != Public {
		list = append(list, 404, 429, 503, 504)
	}
	if access == Discovery {
		list = append(list, 401)
	}
	if o.Body != nil {
		list = append(list, 413)
	}
	if o.Writes {
		list = append(list, 409, 413)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(status int) bool {
		return slices.ContainsFunc(o.Answers, func(a Answer) bool { return a.Status == status })
	})
}

func (s *Spec) answer(o *Operation, a Answer, access Access) *Map {
	text := a.Description
	if text == "" {
		text = http.StatusText(a.Status)
	}
	m := NewMap("description", text)
	headers := NewMap()
	names := a.Headers
	if a.Status >= 400 {
		names = nil
	} else if access != Public {
		names = append(slices.Clone(names), "X-Abagraph-Tx", "X-Abagraph-Now", "X-Abagraph-Epoch")
	}
	if o.Past && a.Status < 400 {
		names = append(names, "X-Abagraph-Backfilled")
	}
	for _, name := range names {
		headers.Set(name, NewMap("$ref", "#/components/headers/"+name))
	}
	if len(headers.Keys) > 0 {
		m.Set("headers", headers)
	}
	switch {
	case a.Schema != nil && a.Type == "application/json" && o.Explains && a.Status < 400:
		media := NewMap()
		wrapped := NewMap("type", "object", "title", "with explain=1", "required", []any{"result", "explain"},
			"properties", NewMap("result", a.Schema, "explain", NewMap("$ref", "#/components/schemas/Explain")))
		media.Set("schema", NewMap("anyOf", []any{a.Schema, wrapped}))
		if fmt.Sprint(o.Told.Get("status")) == strconv.Itoa(a.Status) {
			media.Set("example", o.Told.Get("answer"))
		}
		content := NewMap(a.Type, media)
		if a.Also != "" {
			content.Set(a.Also, NewMap())
		}
		m.Set("content", content)
	case a.Schema != nil:
		m.Set("content", NewMap(a.Type, NewMap("schema", a.Schema)))
	case a.Type != "none":
		content := NewMap()
		for kind := range strings.SplitSeq(a.Type, ", ") {
			content.Set(kind, NewMap())
		}
		m.Set("content", content)
	}
	return m
}

func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// responses are the answers that are errors, one for each status.
func (s *Spec) responses() *Map {
	all := NewMap()
	for _, key := range s.errors.Keys {
		status, _ := strconv.Atoi(key)
		e := s.errors.Child(key)
		m := NewMap("description", oneLine(e.Text("description")))
		headers, _ := e.Get("headers").([]any)
		if len(headers) > 0 {
			list := NewMap()
			for _, name := range headers {
				list.Set(fmt.Sprint(name), NewMap("$ref", "#/components/headers/"+fmt.Sprint(name)))
			}
			m.Set("headers", list)
		}
		media := NewMap("schema", NewMap("$ref", "#/components/schemas/Error"))
		if example := e.Get("example"); example != nil {
			media.Set("example", NewMap("error", example))
		}
		m.Set("content", NewMap("application/json", media))
		all.Set(responseName(status), m)
	}
	return all
}
