package load

import (
	"strings"
	"unicode/utf8"

	"abagraph/fact"
)

// The kinds of documents that are read.
const (
	Markdown = "text/markdown"
	Plain    = "text/plain"
	HTML     = "text/html"
	PDF      = "application/pdf"
	CSV      = "text/csv"
	JSONL    = "application/x-ndjson"
	Calendar = "text/calendar"
	Card     = "text/vcard"
)

// kinds are the names under which each kind may be sent.
var kinds = []struct{ name, kind string }{
	{Markdown, Markdown}, {"text/x-markdown", Markdown}, {Plain, Plain}, {HTML, HTML}, {"application/xhtml+xml", HTML}, {PDF, PDF}, {CSV, CSV},
	{JSONL, JSONL}, {"application/jsonl", JSONL}, {"application/json", JSONL}, {Calendar, Calendar}, {Card, Card}, {"text/x-vcard", Card},
}

// KindOf reads a content type; its parameters do not count.
func KindOf(field, text string) (string, error) {
	media, _, _ := strings.Cut(strings.ToLower(text), ";")
	media = strings.TrimSpace(media)
	for _, k := range kinds {
		if k.name == media {
			return k.kind, nil
		}
	}
	return "", fact.Invalid(field, "has no such value ("+strings.Join([]string{Markdown, Plain, HTML, PDF, CSV, JSONL, Calendar}, ", ")+" or "+Card+")")
}

// Document is a text with its structure.
type Document struct {
	Title  string
	Blocks []Block
	// Written is the day on which the document says that it was written, or
	// fact.NoInstant.
	Written fact.Instant
	// Notes tell what was left out or could not be read.
	Notes []string
}

// Block is a piece of a document that belongs together.
type Block struct {
	Path string // the headings above it, or the header of a table
	Text string
}

// Text reads a document. A PDF is sent in base64; everything else as it is. The
// error is a SchemaInvalid about the field content.
func Text(kind, content string) (*Document, error) {
	d := &Document{Written: fact.NoInstant}
	if kind == PDF {
		raw, err := PDFBytes(content)
		if err != nil {
			return nil, err
		}
		return PDFText(raw)
	}
	content = strings.TrimPrefix(content, "\ufeff")
	content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
	if !utf8.ValidString(content) {
		content = strings.ToValidUTF8(content, "\ufffd")
	}
	defer func() { d.Title = short(d.Title, maxTitle) }()
	switch kind {
	case HTML:
		d.html(content)
	case CSV:
		return d, d.csv(content)
	case JSONL, Plain:
		d.plain(d.withoutBriefings(content))
	case Calendar, Card:
		d.cards(content)
	default:
		d.markdown(d.withoutBriefings(content))
	}
	return d, nil
}

// Empty reports whether there is nothing to read.
func (d *Document) Empty() bool {
	for i := range d.Blocks {
		if strings.TrimSpace(d.Blocks[i].Text) != "" {
			return false
		}
	}
	return true
}

// String is the whole text.
func (d *Document) String() string {
	var b strings.Builder
	for i := range d.Blocks {
		b.WriteString(d.Blocks[i].Text)
		b.WriteString("\n\n")
	}
	return b.String()
}

// Bounds of what is told beside each chunk, since it is told with every one.
const (
	maxHeading = 200
	maxTitle   = 1_000
)

// short takes the beginning of a text, to the end of a character.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func (d *Document) add(path, text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
		d.Blocks = append(d.Blocks, Block{path, text})
	}
}
