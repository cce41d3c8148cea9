package fact_test

import (
	"strings"
	"testing"

	"abagraph/fact"
)

func number(t *testing.T, text string) fact.Object {
	t.Helper()
	o, err := fact.NumberObject("object", text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestNumbersAreExact is C-3: a number keeps its text, equal values are equal
// however they are written, and neighbours beyond a double's precision are not.
func TestNumbersAreExact(t *testing.T) {
	for _, same := range [][2]string{
		{"1", "1.0"}, {"1", "1e0"}, {"100", "1E2"}, {"0.1", "1e-1"}, {"-0", "0"}, {"0e5", "0.000"}, {"12.50", "1250e-2"}, {"-7", "-7.000"},
	} {
		a, b := number(t, same[0]), number(t, same[1])
		if !a.Equal(b) || a.Canonical() != b.Canonical() {
			t.Errorf("%s and %s are one number", same[0], same[1])
		}
		if a.Text != same[0] {
			t.Errorf("%s came back as %s", same[0], a.Text)
		}
	}
	for _, other := range [][2]string{
		{"9007199254740992", "9007199254740993"}, {"1", "-1"}, {"1", "10"}, {"0.1", "0.10000000000000001"}, {"1e300", "1.1e300"},
	} {
		a, b := number(t, other[0]), number(t, other[1])
		if a.Equal(b) || a.Canonical() == b.Canonical() {
			t.Errorf("%s and %s are two numbers", other[0], other[1])
		}
	}
	for _, text := range []string{
		"1e400", "-1e400", "1e-400", strings.Repeat("9", 401), "01", "1.", ".5", "+1", "0x10", "NaN", "Infinity", "", "-", "1e", "1 2",
	} {
		if o, err := fact.NumberObject("object", text); err == nil {
			t.Errorf("%q was taken as %+v", text, o)
		}
	}
	if _, err := fact.NumberObject("object", "0."+strings.Repeat("1", 399)); err != nil {
		t.Errorf("400 digits: %v", err)
	}
}

// TestKindsAreApart: objects of different kinds are never equal.
func TestKindsAreApart(t *testing.T) {
	blob, err := fact.BlobObject("object", strings.Repeat("Ab", 32), 7)
	if err != nil {
		t.Fatal(err)
	}
	other, err := fact.BlobObject("object", strings.Repeat("ab", 32), 8)
	if err != nil {
		t.Fatal(err)
	}
	list := []fact.Object{
		{}, fact.TextObject(""), fact.TextObject("1"), fact.TextObject("true"), fact.TextObject("null"), fact.TextObject("n1e0"),
		number(t, "1"), number(t, "0"), fact.BoolObject(true), fact.BoolObject(false), blob, other,
	}
	for i, a := range list {
		for j, b := range list {
			if a.Equal(b) != (i == j) || (a.Canonical() == b.Canonical()) != (i == j) {
				t.Errorf("%+v and %+v: equal %v, canonical %q and %q", a, b, a.Equal(b), a.Canonical(), b.Canonical())
			}
		}
	}
	for _, bad := range []struct {
		hash string
		size int64
	}{{"ab", 1}, {strings.Repeat("g", 64), 1}, {strings.Repeat("a", 64), -1}} {
		if _, err := fact.BlobObject("object", bad.hash, bad.size); err == nil {
			t.Errorf("a blob of hash %q and size %d was taken", bad.hash, bad.size)
		}
	}
	if err := fact.TextObject(strings.Repeat("x", fact.MaxObjectBytes+1)).Validate("object"); err == nil {
		t.Error("a text over 1 MiB was taken")
	}
	if err := fact.TextObject(strings.Repeat("x", fact.MaxObjectBytes)).Validate("object"); err != nil {
		t.Error(err)
	}
}
