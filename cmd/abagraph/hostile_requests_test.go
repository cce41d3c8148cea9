package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An attempt is one request with words of the victim in it.
type attempt struct {
	route        string // as the description names it
	method, path string // the path with its query
	body         string
	header       [2]string // one more, unless its name is ""
	steady       bool      // the answer to it is the same each time
	plain        bool      // one of those that every entrance is tried with
}

// The description of the API, as far as requests are made from it.
type description struct {
	Paths      map[string]map[string]operation
	Components struct {
		Parameters map[string]describedParameter
		Schemas    map[string]describedSchema
	}
}

type operation struct {
	Parameters  []describedParameter
	RequestBody *struct {
		Content map[string]struct{ Schema describedSchema }
	}
}

type describedParameter struct {
	Ref      string `json:"$ref"`
	Name, In string
}

type describedSchema struct {
	Ref        string `json:"$ref"`
	Properties map[string]json.RawMessage
}

// readDescription asks a server for its description.
func readDescription(t *testing.T, text string) *description {
	t.Helper()
	var d description
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// attempts are all requests: of each route its plain one, one for each value of each
// parameter, and one for each field of its body. What it does not know how to fill is
// an error, so that a new parameter cannot be left out.
func (d *description) attempts(t *testing.T, words func(string) string) []attempt {
	t.Helper()
	var list []attempt
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			if method == "post" && path == "/mcp" {
				continue // its tools are asked one by one
			}
			list = append(list, d.of(t, strings.ToUpper(method), path, words)...)
		}
	}
	return list
}

func (d *description) of(t *testing.T, method, path string, words func(string) string) []attempt {
	t.Helper()
	key := method + " " + path
	o := d.Paths[path][strings.ToLower(method)]
	query, _ := url.ParseQuery(words(plainQueries[key]))
	var list []attempt
	for _, target := range filled(t, key, path) {
		plain := attempt{route: key, method: method, body: words(plainBodies[key]), plain: true, steady: !slices.Contains(unsteady, key)}
		target = words(target)
		plain.path = withQuery(target, query)
		list = append(list, plain)
		switch method {
		case http.MethodGet:
			head := plain
			head.method = http.MethodHead
			list = append(list, head)
		}
		for _, p := range o.Parameters {
			if p.Ref != "" {
				p = d.Components.Parameters[last(p.Ref)]
			}
			for _, value := range valuesOf(t, key, p) {
				more := plain
				more.plain = p.Name == "tenant"
				switch p.In {
				case "query":
					q := maps.Clone(query)
					if q == nil {
						q = url.Values{}
					}
					q[p.Name] = []string{words(value)}
					more.path = withQuery(target, q)
				case "header":
					more.header = [2]string{p.Name, words(value)}
				default:
					continue
				}
				list = append(list, more)
			}
		}
		list = append(list, d.bodies(t, key, o, plain, words)...)
	}
	return list
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// bodies puts each field of a route's body to its plain one.
func (d *description) bodies(t *testing.T, key string, o operation, plain attempt, words func(string) string) []attempt {
	t.Helper()
	if o.RequestBody == nil {
		return nil
	}
	var list []attempt
	for _, content := range o.RequestBody.Content {
		s := content.Schema
		for s.Ref != "" {
			s = d.Components.Schemas[last(s.Ref)]
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			value, known := fieldValues[key+" "+name]
			if !known {
				value, known = fieldValues[name]
			}
			if !known {
				t.Errorf("what of the victim's goes into the field %s of %s? Add it to fieldValues", name, key)
				continue
			}
			more := plain
			more.body, more.plain = with(t, plain.body, name, words(value)), name == "tenant"
			list = append(list, more)
		}
	}
	return list
}

var aPlaceInAPath = regexp.MustCompile(`\{[a-z_]+\}`)

// filled are the paths of a route with the victim's names in their places.
func filled(t *testing.T, key, path string) []string {
	t.Helper()
	places := aPlaceInAPath.FindAllString(path, -1)
	if len(places) == 0 {
		return []string{path}
	}
	names := pathNames[path]
	if names == nil {
		t.Errorf("whom of the victim's does the path of %s name? Add it to pathNames", key)
	}
	var list []string
	for _, all := range names {
		target := path
		for i, name := range strings.Split(all, " ") {
			target = strings.Replace(target, places[i], strings.ReplaceAll(url.PathEscape(name), "%3C", "<"), 1)
		}
		list = append(list, strings.ReplaceAll(target, "%3E", ">"))
	}
	return list
}

func valuesOf(t *testing.T, key string, p describedParameter) []string {
	t.Helper()
	if p.In == "path" {
		return nil
	}
	values, known := parameterValues[p.Name]
	if !known {
		t.Errorf("what of the victim's goes into the parameter %s of %s? Add it to parameterValues", p.Name, key)
	}
	return values
}

// tools are the tools of MCP, each with its arguments.
type tools []struct {
	Name        string
	InputSchema struct{ Properties map[string]json.RawMessage }
}

func readTools(t *testing.T, text string) tools {
	t.Helper()
	var got struct{ Result struct{ Tools tools } }
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Result.Tools) == 0 {
		t.Fatalf("no tools: %v: %s", err, text)
	}
	return got.Result.Tools
}

// messages are all messages of MCP: of each tool its plain call and one for each value
// of each argument, and what is no call of a tool.
func messages(t *testing.T, list tools, words func(string) string) []attempt {
	t.Helper()
	message := func(route, rest string, plain bool) attempt {
		return attempt{route: route, method: http.MethodPost, path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":` + words(rest) + `}`, steady: true, plain: plain}
	}
	call := func(tool, arguments string, plain bool) attempt {
		return message("MCP "+tool, `"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}`, plain)
	}
	var all []attempt
	for _, tool := range list {
		plain := toolCalls[tool.Name]
		if plain == "" {
			t.Errorf("what of the victim's goes into a call of %s? Add it to toolCalls", tool.Name)
			continue
		}
		all = append(all, call(tool.Name, plain, true))
		for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			values := toolValues[name]
			if values == nil && fieldValues[name] != "" {
				values = []string{fieldValues[name]}
			}
			if values == nil {
				t.Errorf("what of the victim's goes into %s of %s? Add it to toolValues", name, tool.Name)
			}
			for _, value := range values {
				all = append(all, call(tool.Name, with(t, words(plain), name, words(value)), name == "namespace"))
			}
		}
	}
	for _, rest := range otherMessages {
		all = append(all, message("MCP", rest, true))
	}
	return all
}

// with sets a field of an object.
func with(t *testing.T, object, name, value string) string {
	t.Helper()
	fields := map[string]json.RawMessage{}
	if object != "" {
		if err := json.Unmarshal([]byte(object), &fields); err != nil {
			t.Fatalf("%v: %s", err, object)
		}
	}
	fields[name] = json.RawMessage(value)
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatalf("%s: %s: %v", name, value, err)
	}
	return string(text)
}
