package mask_test

import (
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory/mask"
)

func redact(text string) (string, int) { return (&mask.Masker{}).Text(text) }

// TestPII01NothingElseIsEaten: what only looks like personal data stays.
func TestPII01NothingElseIsEaten(t *testing.T) {
	for _, text := range []string{
		"1762164000006", "1751360400123", "7c1e02bd-41aa-4f0e-8202-555014399a10", "order 2024-555-0199-77", "10.0.0.1", "9780306406157", "978-0-306-40615-7",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "52.520008, 13.404954", "2024-06-19T12:26:40+02:00", "01-02-2024 10 30", "2025-03-30",
		"7 946 people", "192.0.2.14", "room 555-0143a", "version 1.2.3-456.7", "4111 1111 1111 1112", "v2.10.0-20260124", "12345678901234567890", "1,234,567,890.12",
		"@handle", "git@host:repo", "a@b", "u at example dot com", "", "x@", "@", "a@.", "a@b.", "@@@@", "100 200 3000", "Person:p7 2026-01-02 10:00", "19/02/2024 12:00",
	} {
		if got, n := redact(text); got != text || n != 0 {
			t.Errorf("%q became %q (%d)", text, got, n)
		}
	}
}

// TestPII03PhonesOfManyCountries: the forms of the table, and no others.
func TestPII03PhonesOfManyCountries(t *testing.T) {
	for _, number := range []string{
		"020 7946 0958", "07700 900123", "+44 20 7946 0958", "(202) 555-0143", "202.555.0143", "202-555-0143", "1-202-555-0143", "01 99 00 12 34", "0049 30 23125 000", "+12025550143",
		"+49 (0)30 23125 000", "+1-555-867-5309", "٠٢٠ ٧٩٤٦ ٠٩٥٨", "4930-2312-5000",
	} {
		for _, frame := range []string{"", "call ", "(", "phone: "} {
			after := map[string]string{"(": ")"}[frame]
			if got, n := redact(frame + number + after); got != frame+mask.Redacted+after || n != 1 {
				t.Errorf("%q became %q (%d)", frame+number+after, got, n)
			}
		}
	}
	if got, _ := redact("+1-202-555-0143 ext. 9"); got != "[REDACTED] ext. 9" {
		t.Errorf("an extension: %q", got)
	}
	if got, _ := redact("tel:+12025550143"); got != "tel:[REDACTED]" {
		t.Errorf("tel: %q", got)
	}
	if got, n := redact("Alice (alice@example.com, +1-555-867-5309) joined Acme on 2024-03-15."); got != "Alice ([REDACTED], [REDACTED]) joined Acme on 2024-03-15." || n != 2 {
		t.Errorf("both: %q, %d", got, n)
	}
}

// TestPII04EveryAddress: neighbours, odd ones, and their count.
func TestPII04EveryAddress(t *testing.T) {
	for text, want := range map[string]string{
		"a.b@example.com c.d@example.org e@example.net": "R R R",
		"<x@example.com>,y@example.com;z@example.com":   "<R>,R;R",
		"user+tag@example.com":                          "R",
		"u@xn--bcher-kva.example":                       "R",
		"u@bücher.example":                              "R",
		`"odd name"@example.com`:                        "R",
		"u@sub.example.org.":                            "R.",
		"mailto:u@example.org?subject=x":                "mailto:R?subject=x",
		"two in one a@example.com/b@example.com":        "two in one R/R",
		"-- u@example.com":                              "-- R",
		"日本u@例え.jp":                                     "R",
	} {
		want = strings.ReplaceAll(want, "R", mask.Redacted)
		got, n := redact(text)
		if got != want || n != strings.Count(want, mask.Redacted) {
			t.Errorf("%q became %q (%d), want %q", text, got, n, want)
		}
	}
}

// TestCardsAndSecurityNumbers: the most specific kind, by scheme and check digit.
func TestCardsAndSecurityNumbers(t *testing.T) {
	for _, text := range []string{"4111 1111 1111 1111", "4111-1111-1111-1111", "5500000000000004", "378282246310005", "3782 822463 10005", "6011000990139424", "30569309025904", "123-45-6789"} {
		if got, n := redact("no. " + text + ", thanks"); got != "no. [REDACTED], thanks" || n != 1 {
			t.Errorf("%q became %q (%d)", text, got, n)
		}
	}
	if got, n := redact("4111 1111 1111 1111 5500 0000 0000 0004"); got != "[REDACTED] [REDACTED]" || n != 2 {
		t.Errorf("two cards: %q (%d)", got, n)
	}
}

// TestModes: a hash is the same within a tenant and another in others; a date moves
// by the tenant's days, and what is no date is redacted.
func TestModes(t *testing.T) {
	a, b := mask.Masker{Mode: mask.Hash, Tenant: "a"}, mask.Masker{Mode: mask.Hash, Tenant: "b"}
	one, n := a.Text("u@example.com and u@example.com")
	first, second, _ := strings.Cut(one, " and ")
	other, _ := b.Text("u@example.com")
	if n != 2 || first != second || len(first) != len("sha256:")+12 || other == first || !strings.HasPrefix(first, "sha256:") {
		t.Errorf("hashes %q and %q", one, other)
	}
	d := mask.Masker{Mode: mask.ShiftDate, Tenant: "a"}
	moved, n := d.Text("2024-03-15 to 2024-03-20, u@example.com, 2024-13-45, 2024-03-15T10:00:00Z")
	if n != 4 || strings.Contains(moved, "2024-03-15") || !strings.Contains(moved, mask.Redacted) || !strings.Contains(moved, "2024-13-45") || !strings.Contains(moved, "T10:00:00Z") {
		t.Errorf("moved: %q (%d)", moved, n)
	}
	for text, want := range map[string]mask.Mode{"redact": mask.Redact, "HASH": mask.Hash, "hash_sha256": mask.Hash, "shift_date": mask.ShiftDate} {
		if got, known := mask.ParseMode(text); got != want || !known {
			t.Errorf("%s: %v %v", text, got, known)
		}
	}
	if got, known := mask.ParseMode("rot13"); got != mask.Redact || known {
		t.Errorf("an unknown mode: %v %v", got, known)
	}
}

// TestStatements: which parts of one are masked.
func TestStatements(t *testing.T) {
	m := mask.Masker{}
	got := fact.Assert{
		Subject: "mail of u@example.com", Predicate: "u@example.com", Object: fact.TextObject("call 202-555-0143"),
		Properties: []byte(`{"why":["u@example.com",{"x":"y@example.com"}],"u@example.com":1,"n":4111111111111111}`),
	}
	n, err := m.Assert(&got)
	if err != nil || n != 4 || got.Subject != "mail of [REDACTED]" || got.Predicate != "u@example.com" || got.Object.Text != "call [REDACTED]" ||
		string(got.Properties) != `{"why":["[REDACTED]",{"x":"[REDACTED]"}],"u@example.com":1,"n":4111111111111111}` {
		t.Errorf("%+v %s, %d, %v", got, got.Properties, n, err)
	}
	whole := fact.Assert{Subject: "Mail:u@example.com", Object: fact.TextObject("Mail:u@example.com"), Properties: []byte(`{ "a" : 1 }`)}
	got = whole
	if n, err = m.Assert(&got); err != nil || n != 0 || got.Subject != whole.Subject || got.Object != whole.Object || string(got.Properties) != `{ "a" : 1 }` {
		t.Errorf("names of entities: %+v, %d, %v", got, n, err)
	}
}
