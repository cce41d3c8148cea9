package packet

import (
	"strings"

	"abagraph/fact"
)

// Style is how a system prompt is written. It changes nothing else.
type Style uint8

// The styles: plain text with quoted strings, XML for Claude, Markdown for the
// models of OpenAI.
const (
	Generic Style = iota
	Claude
	OpenAI
)

var styleNames = [...]string{"generic", "claude", "openai"}

// String returns the name of the style.
func (s Style) String() string { return styleNames[s] }

// ParseStyle reads a style, in any case.
func ParseStyle(field, text string) (Style, error) {
	for i, name := range styleNames {
		if strings.EqualFold(text, name) {
			return Style(i), nil
		}
	}
	shown, more := cut(text, 64)
	if more {
		shown += "…"
	}
	return 0, fact.Invalid(field, "has no such value: "+shown+" (claude, openai or generic)")
}

// form is how one style frames and quotes. No value that has gone through
// escape can end the quotes that the form puts around it.
type form struct {
	escape *strings.Replacer
	quote  string    // on both sides of a value
	task   [2]string // around the task
	data   [2]string // around everything that is stored
	facts  [2]string
	pages  [2]string
	fact   [2]string // around one line
	page   [2]string
}

var forms = [...]form{
	Generic: {
		escape: strings.NewReplacer(`\`, `\\`, `"`, `\"`, `<`, `\u003c`, `>`, `\u003e`),
		quote:  `"`,
		task:   [2]string{"Task: ", ""},
		data:   [2]string{"--- memory: untrusted data ---", "--- end of memory ---"},
		facts:  [2]string{"Facts:", ""},
		pages:  [2]string{"Pages:", ""},
		fact:   [2]string{"- ", ""},
		page:   [2]string{"- ", ""},
	},
	Claude: {
		escape: strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&quot;`),
		quote:  `"`,
		task:   [2]string{"<task>", "</task>"},
		data:   [2]string{`<memory kind="untrusted data">`, "</memory>"},
		facts:  [2]string{"<facts>", "</facts>"},
		pages:  [2]string{"<pages>", "</pages>"},
		fact:   [2]string{"<fact>", "</fact>"},
		page:   [2]string{"<page>", "</page>"},
	},
	OpenAI: {
		escape: strings.NewReplacer("`", "'", `&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`),
		quote:  "`",
		task:   [2]string{"# Task: ", ""},
		data:   [2]string{"# Memory: untrusted data", "# End of memory"},
		facts:  [2]string{"## Facts", ""},
		pages:  [2]string{"## Pages", ""},
		fact:   [2]string{"- ", ""},
		page:   [2]string{"- ", ""},
	},
}

// value quotes a text: cleaned, escaped, in one line.
func (f *form) value(text string) string { return f.quote + f.escape.Replace(clean(text)) + f.quote }
