package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory/page"
)

func TestLinks(t *testing.T) {
	for body, want := range map[string]string{
		"":                               "",
		"no links":                       "",
		"[[Person:sarah]]":               "Person:sarah=Person:sarah",
		"see [[Org:acme|Acme Corp]].":    "Org:acme=Acme Corp",
		"[[A:b]] and [[A:b|again]]":      "A:b=A:b",
		"[[A:b|first]] then [[C:d]]":     "A:b=first C:d=C:d",
		"[[never closed":                 "",
		"[[not closed\n[[A:b]]":          "A:b=A:b",
		"[[open [[A:b]] after":           "A:b=A:b",
		"[[A:b]":                         "",
		"[[]] [[ ]] [[|x]] [[\t|x]]":     "",
		"[[A:b|]] [[C:d| ]]":             "A:b=A:b C:d=C:d",
		"[[has space|Text|more]]":        "has space=Text|more",
		"[[[A:b]]]":                      "A:b=A:b",
		"[[A:b]][[C:d]]":                 "A:b=A:b C:d=C:d",
		"[[Café:ü|\u65e5\u672c]]\r\nend": "Café:ü=\u65e5\u672c",
		"]] [[A:b]] ]]":                  "A:b=A:b",
		"[[ A:b ]]":                      " A:b = A:b ",
	} {
		var got []string
		for _, l := range page.Links(body) {
			got = append(got, l.Target+"="+l.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the links %q, want %q", body, strings.Join(got, " "), want)
		}
	}
}

// A page of openings, or of links on one endless line, is read in one pass.
func TestLinksOfAHostileBody(t *testing.T) {
	for _, unit := range []string{"[[", "[[\n", "[[a]]", "[[ [[ ]]\n", "]]", "[["} {
		body := strings.Repeat(unit, fact.MaxObjectBytes/len(unit))
		page.Links(body)
		page.Plain(body + "]]")
	}
}

func TestSnippet(t *testing.T) {
	for _, c := range []struct {
		body string
		most int
		want string
	}{
		{"", 10, ""},
		{"[[Org:acme|Acme]]  is\n\nhere", 280, "Acme is here"},
		{"one two three four", 12, "one two…"},
		{"abcdefghijklmnop", 10, "abcdefg…"},
		{strings.Repeat("\u00e9", 20), 10, "\u00e9\u00e9\u00e9…"},
		{"exactly ten", 11, "exactly ten"},
	} {
		if got := page.Snippet(c.body, c.most); got != c.want || len(got) > c.most {
			t.Errorf("the snippet of %q is %q, want %q", c.body, got, c.want)
		}
	}
}

func TestQuotes(t *testing.T) {
	for properties, want := range map[string]string{
		``:                                    "[]",
		`{"quote":"a"}`:                       "[a]",
		`{"quote":"a","quotes":["a","b"]}`:    "[a b]",
		`{"quotes":[1,"b",""],"quote":"x"}`:   "[b]",
		`{"quote":3,"quotes":"no","more":{}}`: "[]",
		`{"page":4}`:                          "[]",
	} {
		if got := fmt.Sprint(page.QuotesOf([]byte(properties))); got != want {
			t.Errorf("%s quotes %s, want %s", properties, got, want)
		}
	}
}

func text(s string) *string { return &s }

func held(predicate, object, source string) fact.Fact {
	return fact.Fact{ID: fact.NewID(fact.Instant(len(object)), [10]byte{byte(len(source))}), Predicate: predicate,
		Object: fact.TextObject(object), Source: text(source)}
}

// told tells a plan in few words.
func told(w *fact.Write, was *page.Facts) string {
	var words []string
	for _, list := range [][]fact.Fact{was.Of, was.Titles, was.Bodies, was.References, was.Cites} {
		for _, f := range list {
			if slices.ContainsFunc(w.Retracts, func(r fact.Retract) bool { return r.ID == f.ID }) {
				words = append(words, "-"+f.Predicate+" "+f.Object.Text)
			}
		}
	}
	for _, a := range w.Asserts {
		words = append(words, "+"+a.Predicate+" "+a.Object.Text)
	}
	return strings.Join(words, ", ")
}

func TestPlan(t *testing.T) {
	was := &page.Facts{
		Of: []fact.Fact{held(page.Of, "Page:P:a", "s")}, Titles: []fact.Fact{held(page.Title, "Old", "s")}, Bodies: []fact.Fact{held(page.Body, "[[Org:x]]", "s")},
		References: []fact.Fact{held(page.References, "Org:x", "s"), held(page.References, "Org:other", "crm")},
		Cites:      []fact.Fact{held(page.Cites, "http://one", "s"), held(page.Cites, "http://theirs", "agent")},
	}
	draft := func(change func(*page.Draft)) *page.Draft {
		d := &page.Draft{Subject: "P:a", ID: "Page:P:a", Title: "Old", Body: "[[Org:x]]", Source: "s", Citations: []page.Citation{{URL: "http://one"}}}
		change(d)
		return d
	}
	for _, c := range []struct {
		what   string
		change func(*page.Draft)
		want   string
	}{
		{"the same again", func(*page.Draft) {}, ""},
		{"another link", func(d *page.Draft) { d.Body = "[[Org:y]] [[Org:y|twice]]" }, "-references Org:x, +wiki_body [[Org:y]] [[Org:y|twice]], +references Org:y"},
		{"no title", func(d *page.Draft) { d.Title = "" }, "-title Old"},
		{"no citation", func(d *page.Draft) { d.Citations = nil }, "-cites http://one"},
		{"another quote", func(d *page.Draft) { d.Citations[0].Quote = "q" }, "-cites http://one, +cites http://one"},
		{"another source", func(d *page.Draft) { d.Source = "t" },
			"-references Org:x, -cites http://one, +wiki_page Page:P:a, +wiki_body [[Org:x]], +title Old, +references Org:x, +cites http://one"},
	} {
		d := draft(c.change)
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		if got := told(page.Plan(was, d), was); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
	}
	if w := page.Plan(&page.Facts{}, draft(func(d *page.Draft) { d.Title = "" })); len(w.Guards) != 5 || len(w.Asserts) != 4 || len(w.Retracts) != 0 {
		t.Errorf("a new page is %+v", w)
	}
}

func TestDraftBounds(t *testing.T) {
	links := ""
	for i := range page.MaxLinks + 1 {
		links += fmt.Sprintf("[[A:%d]]", i)
	}
	cited := make([]page.Citation, page.MaxCitations+1)
	for i := range cited {
		cited[i] = page.Citation{URL: fmt.Sprint("http://", i)}
	}
	long := strings.Repeat("x", fact.MaxPropertiesBytes)
	for field, d := range map[string]page.Draft{
		"title":      {Title: strings.Repeat("x", fact.MaxObjectBytes+1)},
		"body":       {Body: links},
		"citations":  {Citations: cited},
		"citations ": {Citations: []page.Citation{{URL: "u", Quote: long}}},
	} {
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(field)) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
