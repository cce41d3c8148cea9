package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// objects runs a query and returns the objects of its answer.
func (r *rig) objects(args ...string) string {
	r.t.Helper()
	var facts []struct{ Object any }
	if out := r.ok(append([]string{"query"}, args...)...); json.Unmarshal([]byte(out), &facts) != nil {
		r.t.Fatalf("query wrote %s", out)
	}
	var list []string
	for _, f := range facts {
		text, err := json.Marshal(f.Object)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, string(text))
	}
	return strings.Join(list, " ")
}

func example(name string) string { return filepath.Join("..", "..", "examples", name) }

func importExamples(r *rig) {
	r.t.Helper()
	got := r.object("import", example("company.jsonl"), "--known-at", "recorded_at", "--retracted-at", "retracted_at", "--reason", "the company's files", "--no-state")
	if got["rows"] != 38.0 || got["written"] != 38.0 || got["retracted"] != 2.0 {
		r.t.Errorf("imported %v", got)
	}
	if got := r.object("import", example("people.csv"), "--map", "Who=subject", "--map", "Notes=", "--typed", "--no-state"); got["written"] != 5.0 {
		r.t.Errorf("imported %v", got)
	}
	if got := r.object("import", example("places.nt"), "--prefix", "Place=https://example.org/place/", "--no-state"); got["written"] != 5.0 {
		r.t.Errorf("imported %v", got)
	}
}

func TestExamples(t *testing.T) {
	r := serving(t, "")
	importExamples(r)
	for _, c := range []struct{ want, query string }{
		{`"Engineer"`, "--subject Person:mara --predicate title --as-of 2021-02-01"},
		{`"Chief Technology Officer"`, "--subject Person:mara --predicate title --as-of 2021-02-01 --known-at 2021-03-15"},
		{`"Chief Technology Officer"`, "--subject Person:mara --predicate title --as-of 2021-03-01"},
		{`"Chief Executive"`, "--subject Person:mara --predicate title"},
		{`12.5`, "--subject Product:fjord --predicate payload_kg --as-of 2021-10-31"},
		{`14`, "--subject Product:fjord --predicate payload_kg --as-of 2021-12-01 --known-at 2021-12-01"},
		{`13.2`, "--subject Product:fjord --predicate payload_kg --as-of 2021-12-01"},
		{`"City:kiel"`, "--subject Company:nordlicht --predicate seat --as-of 2021-08-31T23:59:59.999Z"},
		{`"City:hamburg"`, "--subject Company:nordlicht --predicate seat --as-of 2021-09-01"},
		{``, "--subject Company:nordlicht --predicate acquired_by"},
		{`"Company:meridian"`, "--subject Company:nordlicht --predicate acquired_by --status candidate"},
		{`"Company:meridian"`, "--subject Person:tomas --predicate works_at"},
		{`"Company:nordlicht"`, "--subject Person:tomas --predicate works_at --as-of 2022-03-31"},
		{`34`, "--subject Person:noor --predicate age"},
		{`247717`, "--subject Place:kiel --predicate https://example.org/has/inhabitants"},
	} {
		if got := r.objects(strings.Fields(c.query)...); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
}
