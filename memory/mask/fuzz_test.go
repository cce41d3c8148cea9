package mask_test

import (
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/mask"
)

// FuzzText: masking gives the same twice, changes nothing but what it found, counts
// each of it, and leaves nothing that it would find.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a@b.c", "+1 2", "4111 1111 1111 1111", "(((", "\xff@\xfe.com", "٠٢٠ ٧٩٤٦ ٠٩٥٨", "\"@\"@\"", "123-45-6789-1", "(+49 (0)30 23125 000)", "[[A:a@b.co]]", "0 1 20 34 5678 90(12) 34", "2024-03-15T10"} {
		f.Add(text)
	}
	regions, err := mask.ParseRegions("br,cn,dk,es,in,it,mx,no,pl,pt,sg,us")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range []mask.Masker{{}, {Mode: mask.Hash, Tenant: "t"}, {Mode: mask.ShiftDate, Tenant: "t"}, {Regions: regions}} {
			got, n := m.Text(text)
			if again, _ := m.Text(text); again != got {
				t.Fatalf("%q: %q, then %q", text, got, again)
			}
			want, at, found := "", 0, m.Find(text)
			for _, one := range found {
				if one.From < at || one.To <= one.From || one.To > len(text) {
					t.Fatalf("%q: %+v lies within another", text, found)
				}
				want += text[at:one.From] + mask.Redacted
				at = one.To
			}
			if want += text[at:]; m.Mode <= mask.Redact && (got != want || n != len(found)) {
				t.Fatalf("%q became %q (%d), want %q (%d)", text, got, n, want, len(found))
			}
			if n == 0 && got != text {
				t.Fatalf("%q changed to %q without a count", text, got)
			}
		}
	})
}

// FuzzAssert: a statement stays one that may be written: properties stay the same
// JSON but for their texts, and what is no text stays as it is.
func FuzzAssert(f *testing.F) {
	f.Add("mail of a@b.co", "Person:a@b.co", `{"a":["x@y.zz",1,{"x@y.zz":null}],"\u0062":"\u0061\u0040b.co"}`)
	f.Fuzz(func(t *testing.T, subject, object, properties string) {
		v, err := jsonx.Parse([]byte(properties))
		if err != nil || v.Kind != jsonx.Object {
			return
		}
		a := fact.Assert{Subject: subject, Object: fact.TextObject(object), Source: &object, Properties: []byte(properties)}
		m := mask.Masker{}
		n, err := m.Assert(&a)
		if err != nil {
			t.Fatal(err)
		}
		after, err := jsonx.Parse(a.Properties)
		if err != nil {
			t.Fatalf("%s became %s: %v", properties, a.Properties, err)
		}
		if n == 0 && (a.Subject != subject || a.Object.Text != object || *a.Source != object || string(a.Properties) != properties) {
			t.Fatalf("changed without a count: %+v", a)
		}
		same(t, v, after)
	})
}

// same compares all but texts.
func same(t *testing.T, a, b jsonx.Value) {
	t.Helper()
	if a.Kind != b.Kind || a.Name != b.Name || len(a.Kids) != len(b.Kids) || a.Kind == jsonx.Number && a.Raw != b.Raw || a.Kind == jsonx.Bool && a.Bool != b.Bool {
		t.Fatalf("%s became %s", a.Raw, b.Raw)
	}
	if a.Kind == jsonx.String && a.Text != b.Text && !strings.Contains(b.Text, mask.Redacted) {
		t.Fatalf("%q became %q", a.Text, b.Text)
	}
	for i := range a.Kids {
		same(t, a.Kids[i], b.Kids[i])
	}
}
