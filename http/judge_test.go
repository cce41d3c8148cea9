package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	httpd "abagraph/http"
	"abagraph/http/openapi"
	"abagraph/internal/onenode"
	"abagraph/memory"

	"log/slog"

	"github.com/google/jsonschema-go/jsonschema"
)

// judge holds every answer of these tests to what the description says of its route:
// status, type, headers and body. Objects may have no field that is not described,
// which clients must bear and these tests must not. What is accepted must be described,
// too: parameters and bodies.
type judge struct {
	document *openapi.Document
	all      map[string]any // the document as it is served

	mu      sync.Mutex
	schemas map[string]*jsonschema.Resolved
	met     map[string]bool // operation and status
}

var theJudge struct {
	sync.Mutex
	*judge
}

// described returns the judge of all tests.
func described(t *testing.T) *judge {
	t.Helper()
	theJudge.Lock()
	defer theJudge.Unlock()
	if theJudge.judge != nil {
		return theJudge.judge
	}
	config := httpd.Config{Bind: "127.0.0.1:0", Memory: onenode.Start(t).Service(t, memory.Options{}), Logger: slog.New(slog.DiscardHandler), Version: "0.1.0"}
	everything(&config)
	server, err := httpd.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	document, err := spec.Document(server.Described(), "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{document: document, schemas: map[string]*jsonschema.Resolved{}, met: map[string]bool{}}
	if err := json.Unmarshal(document.JSON, &j.all); err != nil {
		t.Fatal(err)
	}
	theJudge.judge = j
	return j
}

// exchange is a request and its answer.
type exchange struct {
	method, path string // the path with its query
	headers      http.Header
	body         string
	status       int
	answered     http.Header
	answer       string
}

// check reports what the description does not say of an exchange.
func (j *judge) check(x *exchange) error {
	path, query, _ := strings.Cut(x.path, "?")
	method := x.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	o := j.document.Find(method, path)
	if o == nil || x.method == http.MethodOptions {
		return j.undescribed(x)
	}
	where := fmt.Sprintf("http/openapi/spec, %s %s", o.Method, o.Path)
	said := j.dig("paths", o.Path, strings.ToLower(o.Method))
	answer := j.follow(j.digIn(said, "responses", fmt.Sprint(x.status)))
	if answer == nil {
		return fmt.Errorf("%s: answers %d, which is not described (errors: [%d]): %s", where, x.status, x.status, shortened(x.answer))
	}
	if err := j.headers(x, answer); err != nil {
		return fmt.Errorf("%s, %d: %w", where, x.status, err)
	}
	if x.status < 300 {
		if err := j.accepted(x, said, query); err != nil {
			return fmt.Errorf("%s: accepts what is not described: %w", where, err)
		}
	}
	if x.method == http.MethodHead {
		return nil
	}
	if err := j.content(x, answer, fmt.Sprintf("%s %d", o.ID, x.status)); err != nil {
		return fmt.Errorf("%s, %d: %w\n%s", where, x.status, err, shortened(x.answer))
	}
	return nil
}

func shortened(text string) string {
	if len(text) > 600 {
		return text[:600] + "…"
	}
	return text
}

// undescribed is what a request for no route may be answered.
func (j *judge) undescribed(x *exchange) error {
	if x.method == http.MethodOptions || x.method == http.MethodHead {
		return nil
	}
	if x.status < 400 || x.status >= 500 {
		return fmt.Errorf("%s %s answers %d and is not described", x.method, x.path, x.status)
	}
	return j.validate("Error", map[string]any{"$ref": "#/components/schemas/Error"}, x.answer)
}

func (j *judge) dig(path ...string) any { return j.digIn(j.all, path...) }

func (j *judge) digIn(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// follow goes to what a reference names.
func (j *judge) follow(v any) any {
	ref, ok := j.digIn(v, "$ref").(string)
	if !ok {
		return v
	}
	return j.dig(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// headers holds those of ours to the description.
func (j *judge) headers(x *exchange, answer any) error {
	if x.status >= 400 {
		return nil // the same of every error
	}
	known, _ := j.digIn(answer, "headers").(map[string]any)
	for name := range x.answered {
		if !strings.HasPrefix(name, "X-Abagraph-") && name != "Link" && name != "Content-Disposition" {
			continue
		}
		if known[name] == nil {
			return fmt.Errorf("the header %s is not described (headers: [%s])", name, name)
		}
	}
	for _, name := range []string{"X-Abagraph-Tx", "X-Abagraph-Epoch", "Link", "Content-Disposition"} {
		if known[name] != nil && x.answered.Get(name) == "" {
			return fmt.Errorf("the header %s is described, and is not there", name)
		}
	}
	return nil
}

// accepted holds a request that was carried out to the description.
func (j *judge) accepted(x *exchange, said any, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("the query: %w", err)
	}
	var known, required []string
	list, _ := j.digIn(said, "parameters").([]any)
	for _, p := range list {
		p = j.follow(p)
		if j.digIn(p, "in") != "query" {
			continue
		}
		name, _ := j.digIn(p, "name").(string)
		known = append(known, name)
		if j.digIn(p, "required") == true {
			required = append(required, name)
		}
	}
	for name := range values {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the parameter %s", name)
		}
	}
	for _, name := range required {
		if !values.Has(name) {
			return fmt.Errorf("without the parameter %s, which is described as required", name)
		}
	}
	body := j.digIn(said, "requestBody")
	switch {
	case body == nil && x.body != "":
		return fmt.Errorf("a body")
	case body == nil, x.headers.Get("Content-Encoding") != "":
		return nil
	case x.body == "":
		if j.digIn(body, "required") == true {
			return fmt.Errorf("no body, where one is described as required")
		}
		return nil
	}
	for kind, media := range j.digIn(body, "content").(map[string]any) {
		if strings.HasSuffix(kind, "json") {
			return j.validate(fmt.Sprint(j.digIn(said, "operationId"), " body"), j.digIn(media, "schema"), strings.TrimPrefix(x.body, "\ufeff"))
		}
	}
	return nil
}

// content holds the body of an answer to the description.
func (j *judge) content(x *exchange, answer any, name string) error {
	kind, _, _ := strings.Cut(x.answered.Get("Content-Type"), ";")
	kinds, _ := j.digIn(answer, "content").(map[string]any)
	if len(kinds) == 0 && x.answer == "" {
		return nil
	}
	media, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("is of type %q, described as %v", kind, kinds)
	}
	schema := j.digIn(media, "schema")
	if kind != "application/json" || schema == nil {
		return nil
	}
	either, _ := j.digIn(schema, "anyOf").([]any)
	if len(either) == 2 && j.digIn(either[1], "title") == "with explain=1" {
		schema = either[0]
		var wrapped map[string]json.RawMessage
		if json.Unmarshal([]byte(x.answer), &wrapped) == nil && len(wrapped) == 2 && wrapped["result"] != nil && wrapped["explain"] != nil {
			if err := j.validate("explain", map[string]any{"$ref": "#/components/schemas/Explain"}, string(wrapped["explain"])); err != nil {
				return err
			}
			return j.validate(name, schema, string(wrapped["result"]))
		}
	}
	return j.validate(name, schema, x.answer)
}

// validate holds a text to a schema. A schema is prepared once, by its name.
func (j *judge) validate(name string, schema any, text string) error {
	j.mu.Lock()
	resolved, ok := j.schemas[name]
	if !ok {
		var err error
		if resolved, err = j.resolve(schema); err != nil {
			j.mu.Unlock()
			return err
		}
		j.schemas[name] = resolved
	}
	j.mu.Unlock()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return fmt.Errorf("is no JSON: %w", err)
	}
	return resolved.Validate(v)
}

func (j *judge) resolve(schema any) (*jsonschema.Resolved, error) {
	root := map[string]any{"allOf": []any{closed(schema)}, "$defs": closedAll(j.dig("components", "schemas"))}
	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	text = []byte(strings.ReplaceAll(string(text), `"#/components/schemas/`, `"#/$defs/`))
	var parsed jsonschema.Schema
	if err := json.Unmarshal(text, &parsed); err != nil {
		return nil, err
	}
	return parsed.Resolve(nil)
}

func closedAll(v any) map[string]any {
	out := map[string]any{}
	all, _ := v.(map[string]any)
	for name, schema := range all {
		out[name] = closed(schema)
	}
	return out
}

// closed is a schema whose objects take no field but theirs.
func closed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, kid := range v {
			if key == "properties" {
				out[key] = closedAll(kid)
				continue
			}
			out[key] = closed(kid)
		}
		_, fields := v["properties"].(map[string]any)
		if _, said := v["additionalProperties"]; fields && !said {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, kid := range v {
			out = append(out, closed(kid))
		}
		return out
	}
	return v
}
