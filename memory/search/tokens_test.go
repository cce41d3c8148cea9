package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// termsOf lists the terms of a text, in order.
func termsOf(text string) []string {
	var list []string
	t := tokenizer{emit: func(k token) { list = append(list, string(k.term)) }}
	t.text(text)
	return list
}

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"works_at":                    "work at",
		"Person:alice":                "person alic",
		"worksAt":                     "worksat work at",
		"HTTPServer":                  "httpserver http server",
		"iPhone 14":                   "iphon phon 14",
		"python3":                     "python3 python 3",
		"S001179":                     "s001179 001179",
		"parties party Party's":       "parti parti parti",
		"serves served serving serve": "serv serv serv serv",
		"running class classes":       "run class class",
		"supported":                   "support",
		"1,234.5":                     "1234.5 1234",
		"1,2,3":                       "1 2 3",
		"1,2345":                      "1 2345",
		"11.5.10":                     "11.5.10 11.5 11",
		"v2.0":                        "2.0 2",
		"2019-09-21":                  "2019 09 21",
		"9a 3rd":                      "9a 9 3rd 3 rd",
		"1.2b":                        "1 2b 2",
		"e-mail email":                "e mail email email",
		"don't O\u2019Neil":           "dont oneil neil",
		"v2x V3":                      "v2x 2 3",
		"https://example.com/a?b=c":   "http exampl com a b c",
		"Jos\u00e9 JOSE \u00c9cole":   "jos jos ecol",
		"Stra\u00dfe STRASSE":         "strass strass",
		"\uff21\uff22\uff23":          "abc",
		"\u041c\u043e\u0441\u043a\u0432\u0430 \u0439": "\u043c\u043e\u0441\u043a\u0432\u0430 \u0439",
		"\u6771\u4eac\u90fd":                          "\u6771 \u4eac \u6771\u4eac \u90fd \u4eac\u90fd",
		"\u72ac":                                      "\u72ac",
		"\u30c6\u30b9\u30c8\u30fc":                    "\u30c6\u30b9 \u30b9\u30c8 \u30c8\u30fc",
		"\ud55c\uad6d\uc5b4":                          "\ud55c\uad6d \uad6d\uc5b4",
		"\u0e01\u0e32\u0e23":                          "\u0e01\u0e32 \u0e32\u0e23",
		"\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e": "\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e",
		"\u0645\u0631\u062d\u0628\u0627":                                "\u0645\u0631\u062d\u0628\u0627",
		"x\u6771\u4eac2":                                                "x \u6771 \u4eac \u6771\u4eac 2",
		"'' . , - _ :":                                                  "",
	} {
		if got := strings.Join(termsOf(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLongRunsAreCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("A", 1<<20), strings.Repeat("\u0430", 1000), strings.Repeat("1", 1000)} {
		for _, term := range termsOf(text) {
			if len(term) > maxTermBytes || !utf8.ValidString(term) {
				t.Errorf("term of %d bytes", len(term))
			}
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, text := range []string{"a-b'c 1,2.3 \u6771\u4eac", "\u0e33\u0e33", "x\u0301\u200d", "1.", "'s", "A\u0301'S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range termsOf(strings.ToValidUTF8(text, "?")) {
			if term == "" || len(term) > maxTermBytes {
				t.Errorf("%q gives %q", text, term)
			}
		}
	})
}
