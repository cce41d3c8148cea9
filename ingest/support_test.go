package ingest

import (
	"testing"

	"abagraph/fact"
)

// TestQuotesAreFound in whatever form a model repeats them, and such that say nothing
// support nothing.
func TestQuotesAreFound(t *testing.T) {
	text := "Zoë Müller — the **CEO** — joined Acme\u00a0Corp; “she de\u00adploys\u200b” the o\ufb03ce on ２０２４.\nJose\u0301 leads [Atlas](https://example.com/a). 林さんは配備を担当しています。"
	e := newEvidence("Staff", text)
	for quote, found := range map[string]string{
		"Zoe\u0308 Mu\u0308ller - the CEO - joined":       "Person:zoë-müller", // decomposed
		"ZOË MÜLLER – the ceo":                            "Person:zoë",
		"\"she deploys\" the office on 2024":              "Person:zoë",
		"Jos\u00e9 leads Atlas":                           "Person:jos\u00e9", // composed
		"Jose\u0301 leads [Atlas](https://example.com/a)": "Person:jose\u0301",
		"林さんは配備を担当しています":                                  "Person:林",
		"joined Acme Corp; 'she deploys":                  "",
		"the":                                             "",
		"CEO":                                             "",
		"Zoë Müller left Acme":                            "",
		"\u200b\u00ad":                                    "",
		"":                                                "",
	} {
		subject := found
		if subject == "" {
			subject = "Person:zoë"
		}
		if lacks := e.lacks(quote, subject, fact.TextObject("x")); (lacks == "") != (found != "") {
			t.Errorf("%q: %q", quote, lacks)
		}
	}
	for entity, named := range map[string]bool{
		"Person:maria-of-the-sea": true, // the text has "the"
		"Person:q-x":              false, "Person:zz-le": false, "Org:acme-inc": true, "Person:of": false, "Topic:2024": true,
	} {
		if e.names(entity) != named {
			t.Errorf("%s is named: %v", entity, !named)
		}
	}
}
