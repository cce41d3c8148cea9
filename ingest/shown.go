package ingest

import (
	"regexp"
	"strings"

	"abagraph/ingest/load"
)

// frame finds what could end the section that a text is shown in.
var frame = regexp.MustCompile(`(?i)<(\s*/?\s*text\b)`)

// text is a chunk as models are shown it. What the text itself says, its title and
// headings included, stands within the section of data.
func (w *work) text(c load.Chunk) string {
	var b strings.Builder
	head := func(name, value string) {
		if value = plain(strings.Join(strings.Fields(value), " ")); value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	head("Source", *w.source)
	head("About", w.digest.Subject)
	if w.written.Given() {
		head("Written on", w.written.Time().Format("2006-01-02"))
	}
	b.WriteString("<text>\n")
	before := b.Len()
	head("Document", w.doc.Title)
	head("Section", c.Path)
	if b.Len() > before {
		b.WriteByte('\n')
	}
	b.WriteString(plain(c.Text))
	b.WriteString("\n</text>")
	return b.String()
}

// plain takes out of a text what a reader does not see and a model does, and what
// would end its section.
func plain(text string) string {
	return frame.ReplaceAllString(strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text), "< $1")
}

// unseen reports whether a character only steers how others are shown: direction,
// joints, tags. Those that scripts need to be written stay.
func unseen(r rune) bool {
	switch {
	case r == 0, r == '\u00ad', r == '\u200b', r == '\u2060', r == '\ufeff':
		return true
	}
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= 0xe0000 && r <= 0xe007f
}
