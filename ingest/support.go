package ingest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"abagraph/fact"
	"abagraph/memory/page"
)

// evidence is a text that quotes and names are looked up in.
type evidence struct{ text string }

// newEvidence takes what differs between a text and a fair quote of it out of both:
// case, white space, the form of a character, the kind of quotes and dashes, what is
// not seen, and marks of emphasis.
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
	for _, r := range norm.NFKC.String(text) {
		switch r {
		case '*', '`':
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
		if unicode.Is(unicode.Cf, r) || r == 0 {
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

// says reports whether a quote says anything by itself: two words, or one that is
// long, since scripts without spaces write several in one.
func says(quote string) bool {
	const long = 8 // bytes
	words := wordsOf(quote)
	return len(words) > 1 || len(words) == 1 && len(words[0]) >= long
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// lacks says what a statement has no support for; "" = it has support for all.
func (e evidence) lacks(quote, subject string, object fact.Object) string {
	q := flat(quote)
	switch {
	case q == "":
		return "no quote from the text supports it"
	case !says(q):
		return "its quote says too little"
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

// names reports whether the text has any word of an entity's id that says something.
func (e evidence) names(entity string) bool {
	id := entity
	if _, after, ok := fact.SplitEntity(entity); ok {
		id = after
	}
	words := wordsOf(flat(id))
	least := 0 // "of" names nothing where there is a longer word
	for _, w := range words {
		least = max(least, min(len(w), 3))
	}
	for _, w := range words {
		if len(w) >= least && e.has(w) {
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
