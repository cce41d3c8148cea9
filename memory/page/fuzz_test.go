package page_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"abagraph/memory/page"
)

// FuzzLinks: whatever a body says, its links stand in it as they are told, each
// target once, and a text without links stays as it is.
func FuzzLinks(f *testing.F) {
	for _, body := range []string{"", "[[A:b]]", "[[A:b|text]] [[", "[[[[A:b]]]]", "]] [[ |x]] [[\n]]", "[[A:b|[[C:d]]", "\xff[[\xfe]]"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		seen := map[string]bool{}
		for _, l := range page.Links(body) {
			if seen[l.Target] || strings.TrimSpace(l.Target) == "" || strings.ContainsAny(l.Target, "\n|") {
				t.Errorf("%q links to %q", body, l.Target)
			}
			seen[l.Target] = true
			if !strings.Contains(body, "[["+l.Target+"]]") && !strings.Contains(body, "[["+l.Target+"|") {
				t.Errorf("%q does not link to %q", body, l.Target)
			}
		}
		if len(seen) == 0 && page.Plain(body) != body {
			t.Errorf("%q became %q", body, page.Plain(body))
		}
		if utf8.ValidString(body) {
			if s := page.Snippet(body, 50); len(s) > 50 || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\t") {
				t.Errorf("the snippet of %q is %q", body, s)
			}
		}
	})
}
