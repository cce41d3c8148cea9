package ingest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"abagraph/fact"
	"abagraph/memory/page"
)

// evidence is a text that quotes and names are looked up in.
type evidence struct{ text string }

// newEvidence takes what differs between a text and a fair quote of it out of both:
// case, white space, the kind of quotes and dashes, and marks of emphasis.
// A link may be quoted as it is written and as it reads.
func newEvidence(parts ...string) evidence {
	text := strings.Join(parts, " ")
	if read := markdownLink.ReplaceAllString(page.Plain(text), "$1"); read != text {
		text += "\n" + read
	}
	return evidence{flat(text)}
}

var markdownLink = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^)\n]*\)`)

func flat(text string) string {
	var b strings.Builder
	space := true
	for _, r := range text {
		switch r {
		case '*', '`', '\u200b', '\ufeff', '\u00ad':
			continue
		case '\u2018', '\u2019', '\u201a', '\u2032':
			r = '\''
		case '\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb':
			r = '"'
		case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212':
			r = '-'
		case '\u2026':
			b.WriteString("...")
			space = false
			continue
		}
		if unicode.IsSpace(r) || r == '_' {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		b.WriteRune(unicode.ToLower(r))
		space = false
	}
	return strings.TrimSpace(b.String())
}

// minQuote is the least that a quote must say.
const minQuote = 3

// lacks says what a statement has no support for; "" = it has support for all.
func (e evidence) lacks(quote, subject string, object fact.Object) string {
	q := flat(quote)
	switch {
	case len(q) < minQuote:
		return "no quote from the text supports it"
	case !strings.Contains(e.text, q):
		return "its quote is not in the text"
	case !e.names(subject):
		return "the text does not name " + subject
	case object.Kind == fact.Text && isEntity(object.Text) && !e.names(object.Text):
		return "the text does not name " + object.Text
	}
	return ""
}

func isEntity(text string) bool {
	_, _, ok := fact.SplitEntity(text)
	return ok
}

// names reports whether the text has any word of an entity's id.
func (e evidence) names(entity string) bool {
	id := entity
	if _, after, ok := fact.SplitEntity(entity); ok {
		id = after
	}
	words := strings.FieldsFunc(flat(id), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		if (len(w) > 1 || len(words) == 1) && e.has(w) {
			return true
		}
	}
	return len(words) == 0
}

// has finds a word; scripts that write without spaces have it anywhere.
func (e evidence) has(word string) bool {
	for from := 0; ; {
		at := strings.Index(e.text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(e.text[:at])
		after, _ := utf8.DecodeRuneInString(e.text[at+len(word):])
		if !inWord(before) && !inWord(after) || word[0] >= utf8.RuneSelf {
			return true
		}
		from = at + len(word)
	}
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
