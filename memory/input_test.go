package memory_test

import (
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// checkAssert holds for whatever was accepted.
func checkAssert(t *testing.T, a *fact.Assert) {
	t.Helper()
	for field, name := range map[string]string{"subject": a.Subject, "predicate": a.Predicate} {
		if err := fact.CheckName(field, name); err != nil {
			t.Fatal(err)
		}
		if again, err := memory.Name(field, name); err != nil || again != name {
			t.Fatalf("%s %q is not normal: %q, %v", field, name, again, err)
		}
	}
	if !(a.Confidence >= 0 && a.Confidence <= 1) {
		t.Fatalf("confidence %v", a.Confidence)
	}
	if a.ValidFrom.Given() && (!a.ValidFrom.Valid() || a.ValidFrom >= a.ValidUntil) {
		t.Fatalf("times %d %d", a.ValidFrom, a.ValidUntil)
	}
	if len(a.Properties) > fact.MaxPropertiesBytes {
		t.Fatal("properties")
	}
	f := fact.Fact{Subject: a.Subject, Predicate: a.Predicate, Object: a.Object, Source: a.Source, Properties: a.Properties,
		ValidFrom: a.ValidFrom, ValidUntil: a.ValidUntil, Confidence: a.Confidence, Status: fact.Active}
	v, err := jsonx.Parse(jsonx.AppendFact(nil, &f))
	if err != nil {
		t.Fatalf("cannot be read back: %v", err)
	}
	if object, _ := v.Field("object"); a.Object.Kind == fact.Text && object.Text != a.Object.Text {
		t.Fatalf("object %q came back as %q", a.Object.Text, object.Text)
	}
}

func FuzzAssert(f *testing.F) {
	for _, seed := range []string{
		`{"subject":"Person:alice","predicate":"works_at","object":"Company:acme","confidence":0.95,"source":"hr"}`,
		`{"subject":"Cafe\u0301:x","predicate":"p","object":{"hash":"` + strings.Repeat("ab", 32) + `","size":1},"properties":{"a":[1,{"b":null}]}}`,
		`{"subject":"A:1","predicate":"p","object":-0.0e5,"valid_from":"2024-06-19T12:26:40+02:00","valid_until":null,"policy":"Auto-Supersede","transient":true}`,
		`{"subject":"A:1","predicate":"p","valid_from":-457056000000,"valid_until":253402300799999,"coexist":true,"branch":"main","tenant":"default"}`,
		`{"subject":"","predicate":null}`, `[]`, `{"confidence":1e999}`, `{"subject":"A\u0000","predicate":"\u200b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonx.Parse(data)
		if err != nil {
			return
		}
		in := memory.NewInput(memory.Caller{Operator: true, Tenant: memory.DefaultTenant})
		a, err := in.Assert(v, "", false)
		if err != nil {
			if fact.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		checkAssert(t, &a)
	})
}

func FuzzBatch(f *testing.F) {
	for _, seed := range []string{
		`{"compares":[{"subject":"A:1","predicate":"p","expect":null}],"asserts":[{"subject":"A:1","predicate":"p"}],"retracts":["00000000-0000-7000-8000-000000000000"]}`,
		`{"asserts":[{"subject":"A:1","predicate":"p","declared_known_at":5}],"backfill":{"reason":"r"},"retracts":[{"id":"00000000-0000-7000-8000-000000000000","declared_captured_at":5}]}`,
		`{"compares":[{"subject":"A:1","predicate":"p","absent":true},{"subject":"A:1","predicate":"p","object":1}],"asserts":[]}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonx.Parse(data)
		if err != nil {
			return
		}
		in := memory.NewInput(memory.Caller{Tenant: "a", Role: fact.RoleWrite})
		w, err := in.Batch(v)
		if err != nil {
			if fact.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		if len(w.Asserts)+len(w.Retracts) == 0 || len(w.Asserts)+len(w.Retracts)+len(w.Guards) > fact.MaxTransactRows {
			t.Fatal("a batch of no size")
		}
		for i := range w.Asserts {
			checkAssert(t, &w.Asserts[i])
		}
	})
}

func TestWarningsAreBounded(t *testing.T) {
	row := `{"subject":"A:1","predicate":"p","valid_from":1718800000}`
	v, err := jsonx.Parse([]byte(`{"asserts":[` + strings.Repeat(row+",", 99) + row + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	in := memory.NewInput(memory.Caller{Operator: true})
	if _, err := in.Batch(v); err != nil {
		t.Fatal(err)
	}
	w := in.Warnings()
	if len(w) != 11 || w[10] != "and 90 more of the kind" {
		t.Errorf("warnings %q", w)
	}
}

func TestInstantsInAQuery(t *testing.T) {
	in := memory.NewInput(memory.Caller{})
	for text, want := range map[string]fact.Instant{
		"2024-06-19T14:26:40 02:00": 1718800000000, "2024-06-19T14:26:40 0200": 1718800000000, "2024-06-19T12:26:40Z": 1718800000000,
		"1718800000000": 1718800000000, " 1718800000000 ": 1718800000000,
	} {
		if got, err := in.Instant("as_of", text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	if len(in.Warnings()) != 0 {
		t.Errorf("warnings %q", in.Warnings())
	}
}

func TestObjectFilter(t *testing.T) {
	for text, want := range map[string]int{"": 1, "x": 1, "42": 2, "-1.5e3": 2, "true": 2, "null": 2, "True": 1, "01": 1, "1e400": 1, `{"a":1}`: 1, "[1]": 1, " 1": 1, "1 ": 1,
		`{"hash":"` + strings.Repeat("0", 64) + `","size":3}`: 2} {
		if got := memory.ObjectFilter(text); len(got) != want || got[0].Kind != fact.Text || got[0].Text != text {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzInstant(f *testing.F) {
	for _, seed := range []string{"0", "-1", "1718800000000.5", "2024-06-19T14:26:40 02:00", "-0044-03-15", "+009999-12-31T23:59:59Z", "1.7188e12", "2024-06-19t12:26:40,5z", "", " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := memory.NewInput(memory.Caller{})
		at, err := in.Instant("as_of", text)
		if err != nil {
			if fact.CodeOf(err) != fact.SchemaInvalid {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		if !at.Valid() {
			t.Fatalf("%q became %d", text, at)
		}
		if again, err := in.Instant("as_of", at.Time().Format("2006-01-02T15:04:05.000Z07:00")); at > 0 && (err != nil || again != at) {
			t.Fatalf("%q became %d and then %d, %v", text, at, again, err)
		}
	})
}
