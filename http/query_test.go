package http

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"abagraph/fact"
)

// FuzzQuery compares with the standard library: what both accept they read
// alike, and a parameter given twice is refused.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"subject=Person:alice&predicate=works_at", "object=a%20b+c&explain=1", "a=1&a=2", "%zz=1", "x=%ff", "&&=&", "as_of=2024-06-19T14:26:40+02:00", "a;b=1",
		"limit=10000", "status=all&tx_gt=abc:5", strings.Repeat("a&", 70),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var q query
		if err := q.parse(raw); err != nil {
			if fact.CodeOf(err) != fact.SchemaInvalid {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		std, err := url.ParseQuery(raw)
		if err != nil && !strings.Contains(raw, ";") {
			t.Fatalf("accepted what is no query: %v", err)
		}
		if len(q.list) > maxParams {
			t.Fatal("too many parameters")
		}
		for name, values := range std {
			got, ok := q.text(name)
			if !ok || len(values) != 1 || got != values[0] {
				t.Fatalf("%q: %q, %v; the standard library says %q", name, got, ok, values)
			}
		}
		if err := q.done(); err != nil && !strings.Contains(raw, ";") {
			t.Fatalf("a parameter was missed: %v", err)
		}
	})
}

// FuzzCursor: whatever is sent as a cursor is read or refused.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"5", "abc:5", ":5", "abc:", "-1", "99999999999999999999", "a:b:1", ""} {
		f.Add(seed)
	}
	c := &call{r: new(http.Request)}
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := c.cursor("tx_gt", text)
		if (cursor == nil) == (err == nil) {
			t.Fatalf("%v, %v", cursor, err)
		}
		if err != nil && fact.CodeOf(err) != fact.SchemaInvalid {
			t.Fatalf("an error without a code: %v", err)
		}
	})
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]string{
		"acme.example.test": "acme", "ACME.example.TEST:443": "acme", "example.test": "", "www.example.test": "", "api.example.test": "", "other.test": "",
		"a.b.example.test": "!", "a_b.example.test": "!", ".example.test": "!", "xexample.test": "", "[::1]:80": "", "acme.example.test.": "acme", "": "",
	} {
		tenant, ok := tenantOfHost(host, "example.test")
		if !ok {
			tenant = "!"
		}
		if tenant != want {
			t.Errorf("%q: %q, want %q", host, tenant, want)
		}
	}
}
