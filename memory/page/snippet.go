package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SnippetBytes is about how much of a body a snippet shows.
const SnippetBytes = 280

// Snippet returns the beginning of a body on one line, with its links as their
// texts: at most so many bytes, cut between words where there are any, and
// ended by … where it is cut.
func Snippet(body string, most int) string {
	const sign = "…"
	// What cannot be shown need not be looked at.
	if len(body) > 16*most {
		body = strings.ToValidUTF8(body[:16*most], "")
	}
	text := strings.Join(strings.Fields(Plain(body)), " ")
	if len(text) <= most {
		return text
	}
	cut := max(most-len(sign), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	text = text[:cut]
	if space := strings.LastIndexFunc(text, unicode.IsSpace); space > most/2 {
		text = text[:space]
	}
	return strings.TrimRightFunc(text, unicode.IsSpace) + sign
}
