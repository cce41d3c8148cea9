package jsonx_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

func sample() fact.Fact {
	source := "hr \"system\"\n"
	return fact.Fact{
		ID: fact.NewID(1, [10]byte{1}), Tenant: "acme", Branch: "main", Subject: "Person:alice", Predicate: "works_at",
		Object: fact.TextObject("Company:acme"), ValidFrom: -1, ValidUntil: fact.Forever, StatedFrom: -1, StatedUntil: fact.Forever,
		Confidence: 0.95, Source: &source, Properties: []byte(`{"why":1.10}`), Status: fact.Active, RecordedAt: 5,
		DeclaredKnownAt: fact.NoInstant, Tx: 42,
	}
}

func TestAppendFactHasOneForm(t *testing.T) {
	f := sample()
	const want = `{"id":"00000000-0001-7100-8000-000000000000","subject":"Person:alice","predicate":"works_at","object":"Company:acme",` +
		`"valid_from":-1,"valid_until":null,"recorded_at":5,"confidence":0.95,"source":"hr \"system\"\n","properties":{"why":1.10},` +
		`"status":"active","tenant":"acme","transient":false,"tx":42,"policy":"auto_supersede","stated_from":-1,"stated_until":null,` +
		`"dated":false,"continues":null,"superseded_by":null,"declared_known_at":null}`
	if got := string(jsonx.AppendFact(nil, &f)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.Tenant, f.Source, f.Properties, f.Branch = "", nil, nil, "side"
	got := string(jsonx.AppendFacts(nil, []fact.Fact{f, f}))
	if !json.Valid([]byte(got)) || !strings.Contains(got, `"source":null,"properties":{"_branch":"side"}`) || !strings.Contains(got, `"tenant":"~side","branch":"side"`) {
		t.Errorf("got %s", got)
	}
}

// TestAppendFactOfABranch: a fact of a branch tells so by every documented name,
// and properties that have a _branch of their own stay as they are.
func TestAppendFactOfABranch(t *testing.T) {
	for given, want := range map[string]string{
		`{}`: `{"_branch":"feat"}`, `{"why":1.10}`: `{"_branch":"feat","why":1.10}`, `{"a":{"_branch":"x"}}`: `{"_branch":"feat","a":{"_branch":"x"}}`,
		`{"_branch":"mine"}`: `{"_branch":"mine"}`,
	} {
		f := sample()
		f.Branch, f.Properties = "feat", []byte(given)
		got := string(jsonx.AppendFact(nil, &f))
		if !json.Valid([]byte(got)) || !strings.Contains(got, `"properties":`+want+`,`) || !strings.Contains(got, `"tenant":"acme~feat","branch":"feat"`) {
			t.Errorf("%s: got %s", given, got)
		}
	}
}

func TestAppendObject(t *testing.T) {
	number, _ := fact.NumberObject("", "9007199254740993")
	blob, _ := fact.BlobObject("", strings.Repeat("A", 64), 7)
	got := string(jsonx.AppendObjects(nil, []fact.Object{{}, number, fact.BoolObject(true), blob, fact.TextObject("\u2028é\x01")}))
	want := `[null,9007199254740993,true,{"hash":"` + strings.Repeat("a", 64) + `","size":7},"` + "\u2028é" + `\u0001"]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendFloat(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 1: "1", 0.1: "0.1", 1e-7: "1e-07", 1e300: "1e+300", math.Inf(1): "null"} {
		if got := string(jsonx.AppendFloat(nil, f)); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
	if got := string(jsonx.AppendFloat(nil, math.NaN())); got != "null" {
		t.Errorf("NaN is %s", got)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\n\x00", "é😀\u2028", "\xff\xfe", "a\xc3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := jsonx.AppendString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); strings.Count(back, "\ufffd") < strings.Count(want, "\ufffd") {
			t.Fatalf("%q came back as %q", s, back)
		}
		v, err := jsonx.Parse(out)
		if err != nil || v.Text != back {
			t.Fatalf("%q: %v, %q", out, err, v.Text)
		}
	})
}

func BenchmarkAppendFact(b *testing.B) {
	f := sample()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = jsonx.AppendFact(buf[:0], &f)
	}
}
