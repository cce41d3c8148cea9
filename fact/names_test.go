package fact_test

import (
	"strings"
	"testing"

	"abagraph/fact"
)

// TestCheckName holds names to C-5.
func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"Person:alice", "a b", "x | y", `C:\dir\f.txt`, `"quoted"`, "*", "%", "'; --", "${x}", "日本語", "🙂", "é", strings.Repeat("n", 1024), "a\u200db",
	} {
		if err := fact.CheckName("subject", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", " a", "a ", "\u00a0a", "a\u200b", "\ufeffa", "a\u2028", "a\x00b", "a\nb", "a\x7fb", "a\u0085b", "\xff", "a\xc3", "\u202ea", "a\ufe0f",
		strings.Repeat("n", 1025),
	} {
		if err := fact.CheckName("subject", name); fact.CodeOf(err) != fact.SchemaInvalid || !strings.HasPrefix(err.Error(), "subject ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSplitEntity: Type:id, and nothing that only looks like it (C-5).
func TestSplitEntity(t *testing.T) {
	for ref, want := range map[string][2]string{
		"Person:alice": {"Person", "alice"}, "user:a:b": {"user", "a:b"}, "X_1:/path": {"X_1", "/path"}, "a:1": {"a", "1"}, "Person:日本": {"Person", "日本"},
	} {
		if kind, name, ok := fact.SplitEntity(ref); !ok || [2]string{kind, name} != want {
			t.Errorf("%q: %q, %q, %v", ref, kind, name, ok)
		}
	}
	for _, ref := range []string{
		"", "alice", ":alice", "Person:", "https://example.com", "2024-06-19T12:26:40Z", "1a:b", "_a:b", "a-b:c", "Ä:b", "Person:a b", "Person:a\tb", "a b:c",
	} {
		if kind, name, ok := fact.SplitEntity(ref); ok {
			t.Errorf("%q was taken as %q, %q", ref, kind, name)
		}
	}
}

// TestCheckTenant: 1 to 64 ASCII letters, digits and hyphens.
func TestCheckTenant(t *testing.T) {
	for id, good := range map[string]bool{
		"acme": true, "a": true, "A-1": true, strings.Repeat("t", 64): true,
		"": false, strings.Repeat("t", 65): false, "a_b": false, "a~b": false, "a:b": false, "ä": false, "a b": false, "../x": false, "a\x00": false,
	} {
		if err := fact.CheckTenant("tenant", id); (err == nil) != good {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestWordsInAnySpelling covers statuses, policies and roles (C-4, C-6).
func TestWordsInAnySpelling(t *testing.T) {
	for _, text := range []string{"auto_supersede", "AutoSupersede", "auto-supersede", "AUTO_SUPERSEDE"} {
		if p, err := fact.ParsePolicy("policy", text); err != nil || p != fact.AutoSupersede {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if _, err := fact.ParsePolicy("policy", "merge"); err == nil {
		t.Error("policy merge was taken")
	}
	set, err := fact.ParseStatusSet("status", "Active, RETRACTED")
	if err != nil || !set.Has(fact.Active) || !set.Has(fact.Retracted) || set.Has(fact.Candidate) || set.Has(fact.Superseded) {
		t.Errorf("%b, %v", set, err)
	}
	if set, err := fact.ParseStatusSet("status", "all"); err != nil || set != fact.AllStatuses {
		t.Errorf("all: %b, %v", set, err)
	}
	for _, text := range []string{"", "actve", "active,", "active;retracted"} {
		if set, err := fact.ParseStatusSet("status", text); err == nil {
			t.Errorf("%q was taken as %b", text, set)
		}
	}
	for r := fact.RoleRead; r <= fact.RoleAdmin; r++ {
		if got, err := fact.ParseRole("role", r.String()); err != nil || got != r {
			t.Errorf("%v came back as %v, %v", r, got, err)
		}
	}
}

// TestIDs: a UUID v7 in one form, read in any case.
func TestIDs(t *testing.T) {
	id := fact.NewID(1_700_000_000_000, [10]byte{0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7})
	text := id.String()
	if text != "018bcfe5-6800-7fff-bf01-020304050607" {
		t.Errorf("the id is written %s", text)
	}
	for _, form := range []string{text, strings.ToUpper(text)} {
		if got, ok := fact.ParseID(form); !ok || got != id {
			t.Errorf("%s came back as %s", form, got)
		}
	}
	for _, bad := range []string{"", "x", text[:35], text + "0", strings.Replace(text, "-", "0", 1), strings.Replace(text, "f", "g", 1), "{" + text[:34] + "}"} {
		if got, ok := fact.ParseID(bad); ok {
			t.Errorf("%q was read as %s", bad, got)
		}
	}
	a, b := fact.ContinuationID(id, 7, 1), fact.ContinuationID(id, 7, 2)
	if a == b || a == id || a[6]>>4 != 7 || a[8]>>6 != 2 || fact.ContinuationID(id, 7, 1) != a || string(a[:6]) != string(id[:6]) {
		t.Errorf("continuations of %s: %s, %s", id, a, b)
	}
}

// TestSameConfidence: within 0.001, the edge included (C-10).
func TestSameConfidence(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		same bool
	}{{0.9, 0.9, true}, {0.9, 0.901, true}, {0.901, 0.9, true}, {0.9, 0.9011, false}, {0, 1, false}, {0.75, 0.7495, true}} {
		if fact.SameConfidence(c.a, c.b) != c.same {
			t.Errorf("%v and %v: want %v", c.a, c.b, c.same)
		}
	}
}
