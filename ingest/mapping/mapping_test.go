package mapping_test

import (
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/ingest/mapping"
	"abagraph/internal/jsonx"
)

// FuzzMapping puts arbitrary records through arbitrary mappings: what is accepted
// can be written and read again, and every fact of a record is a fact that the store
// accepts.
func FuzzMapping(f *testing.F) {
	f.Add(`{"subject":"A:$id"}`, `{"id":1,"x":2}`)
	f.Add(`{"subject":"A:${a.b}/$c","fields":{"x":"y"},"valid_from":"t"}`, `{"a":{"b":1},"c":"d","x":{"value":1,"confidence":0.5,"valid_from":3},"t":"2024-01-01"}`)
	f.Add(`{"fields":["x"],"confidence":0.1,"policy":"coexist"}`, `{"id":"","x":null}`)
	f.Add(`{"subject":"S"}`, `{"x":[1],"y":{"value":{}}}`)
	f.Fuzz(func(t *testing.T, config, record string) {
		v, err := jsonx.Parse([]byte(config))
		if err != nil {
			return
		}
		m, err := mapping.Read(v, "mapping")
		if err != nil {
			return
		}
		shown := m.Append(nil)
		again, err := jsonx.Parse(shown)
		if err != nil {
			t.Fatalf("%s is no JSON: %v", shown, err)
		}
		twin, err := mapping.Read(again, "mapping")
		if err != nil || string(twin.Append(nil)) != string(shown) {
			t.Fatalf("%s reads as %v", shown, err)
		}
		rec, err := jsonx.Parse([]byte(record))
		if err != nil {
			return
		}
		facts, _, err := m.Facts(nil, rec)
		if err != nil && len(facts) > 0 {
			t.Fatalf("a refused record left %d facts", len(facts))
		}
		if err == nil && len(facts) == 0 {
			t.Fatal("nothing became of a record, and nothing is said")
		}
		for i := range facts {
			a := &facts[i]
			for _, problem := range []error{fact.CheckName("subject", a.Subject), fact.CheckName("predicate", a.Predicate), a.Object.Validate("object")} {
				if problem != nil {
					t.Fatalf("%+v: %v", a, problem)
				}
			}
			if !(a.Confidence >= 0 && a.Confidence <= 1) || a.ValidFrom.Given() && a.ValidFrom >= a.ValidUntil {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// A record of very many values is refused whole.
func TestRecordsOfManyValues(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":1`)
	for range mapping.MaxFacts + 1 {
		b.WriteString(`,"` + strings.Repeat("x", 3) + string(rune('a'+b.Len()%26)) + jsonNumber(b.Len()) + `":1`)
	}
	v, err := jsonx.Parse([]byte(b.String() + "}"))
	if err != nil {
		t.Fatal(err)
	}
	if facts, _, err := mapping.New().Facts(nil, v); err == nil || len(facts) != 0 {
		t.Errorf("%d facts, %v", len(facts), err)
	}
}

func jsonNumber(n int) string {
	const digits = "0123456789"
	if n < 10 {
		return digits[n : n+1]
	}
	return jsonNumber(n/10) + digits[n%10:n%10+1]
}
