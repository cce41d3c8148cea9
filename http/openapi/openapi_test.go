package openapi

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

const sharedForTests = `
errors: {400: {description: bad}}
query: {"limit?": integer 0..10 = 5 - how many}
groups: {page: [limit]}
headers: {X-Next: string}
schemas: {Error: {fields: {error: string}}, Explain: {fields: {op: string}}}
`

func loading(t *testing.T, area string) (*Spec, error) {
	t.Helper()
	return load(fstest.MapFS{shared: {Data: []byte(sharedForTests)}, "things.yaml": {Data: []byte(area)}})
}

const things = `
tag: Things
description: All of them.
routes:
  POST /api/things/{id}:
    id: makeThing
    summary: Make a thing
    role: write
    uses: [page]
    path: {id: string - which}
    body: ThingInput
    201: Thing - the thing
    errors: [409]
schemas:
  Base: {fields: {name: string}}
  Thing:
    extends: Base
    fields: {"size?": "integer?", kind: big|small}
inputs:
  ThingInput:
    fields: {name: string 1..8, "confidence?": number! 0..1, "note?": string}
`

func TestShorthandIsJSONSchema(t *testing.T) {
	s, err := loading(t, things)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Thing": `{"type":"object","required":["name","kind"],"properties":{"name":{"type":"string"},"size":{"type":["integer","null"]},"kind":{"type":"string","enum":["big","small"]}}}`,
		"ThingInput": `{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":8},` +
			`"confidence":{"type":"number","minimum":0,"maximum":1},"note":{"type":["string","null"]}},"additionalProperties":false}`,
	} {
		if got, err := json.Marshal(s.Components.Get(name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	d, err := s.Document([]Route{{Method: "POST", Template: "/api/things/:id"}}, "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"/api/things/{id}":{"post":{"operationId":"makeThing"`, `{"name":"id","in":"path","required":true,"description":"which","schema":{"type":"string"}}`,
		`{"$ref":"#/components/parameters/limit"}`, `"409":{"$ref":"#/components/responses/Conflict"}`, `"description":"the thing"`, "Needs a key of role `write` or more.",
	} {
		if !strings.Contains(string(d.JSON), want) {
			t.Errorf("the document lacks %s:\n%s", want, d.JSON)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for breach, want := range map[string][2]string{
		"a misspelt key":    {"    role: write", "    rolle: write"},
		"no schema":         {"body: ThingInput", "body: ThingInputs"},
		"no such parameter": {"uses: [page]", "uses: [pages]"},
		"no place":          {"path: {id: string - which}", "path: {ids: string}"},
		"a key twice":       {"    role: write", "    role: write\n    role: read"},
		"no answer":         {"    201: Thing - the thing\n", ""},
		"no status":         {"errors: [409]", "errors: [201]"},
	} {
		text := strings.Replace(things, want[0], want[1], 1)
		if text == things {
			t.Fatalf("%s: nothing was changed", breach)
		}
		if _, err := loading(t, text); err == nil || !strings.Contains(err.Error(), "things.yaml") {
			t.Errorf("%s: %v", breach, err)
		}
	}
}

func TestRoutesAndDescriptionAreCompared(t *testing.T) {
	s, err := loading(t, things)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Problems([]Route{{Method: "POST", Template: "/api/things/:id"}}); len(got) > 0 {
		t.Errorf("what agrees is refused: %q", got)
	}
	got := strings.Join(s.Problems([]Route{{Method: "POST", Template: "/api/things/:name"}, {Method: "GET", Template: "/api/others/*"}}), "\n")
	for _, want := range []string{"GET /api/others/* is not described", "POST /api/things/:name is not described", "describes POST /api/things/{id}, which is no route"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
