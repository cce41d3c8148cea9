package report

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// MaxBytes bounds a document, as JSON and as Markdown.
const MaxBytes = 256 << 10

// Document is one edition of a report.
type Document struct {
	Report   string // its name
	Title    string // "" = the name
	From, To fact.Instant
	// Tx is the tx at which it was read.
	Tx uint64
	// Subject and Predicate narrow it; "" = everything.
	Subject, Predicate string
	Sections           []Section
}

// Fit returns a document as JSON and as Markdown, with as many rows as its bounds
// allow.
func (d *Document) Fit() (text []byte, markdown string, err error) {
	for most := d.rows(); ; most /= 2 {
		d.trim(most)
		text = d.Append(nil)
		if len(text) > MaxBytes && most > 0 {
			continue
		}
		v, err := jsonx.Parse(text)
		if err != nil {
			return nil, "", err
		}
		if markdown = Markdown(v); len(markdown) <= MaxBytes || most == 0 {
			return text, markdown, nil
		}
	}
}

// rows is the most rows of a section.
func (d *Document) rows() int {
	most := 0
	for i := range d.Sections {
		most = max(most, len(d.Sections[i].Rows))
	}
	return most
}

func (d *Document) trim(most int) {
	for i := range d.Sections {
		if s := &d.Sections[i]; len(s.Rows) > most {
			s.Rows, s.Limited = s.Rows[:most], true
		}
	}
}

// Limited tells that a section shows less than there is.
func (d *Document) Limited() bool {
	for i := range d.Sections {
		if d.Sections[i].Limited {
			return true
		}
	}
	return false
}

// Append writes a document as JSON.
func (d *Document) Append(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"report":`...), d.Report)
	b = jsonx.AppendString(append(b, `,"title":`...), d.heading())
	b = jsonx.AppendInstant(append(b, `,"from":`...), d.From)
	b = jsonx.AppendInstant(append(b, `,"to":`...), d.To)
	b = strconv.AppendUint(append(b, `,"tx":`...), d.Tx, 10)
	b = optional(append(b, `,"subject":`...), d.Subject)
	b = optional(append(b, `,"predicate":`...), d.Predicate)
	b = jsonx.AppendBool(append(b, `,"limited":`...), d.Limited())
	b = append(b, `,"sections":[`...)
	for i := range d.Sections {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.Sections[i].append(b)
	}
	return append(b, `]}`...)
}

func (d *Document) heading() string {
	if d.Title == "" {
		return d.Report
	}
	return d.Title
}

func (s *Section) append(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), s.Name)
	b = append(b, `,"counts":{`...)
	for i, c := range s.Counts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonx.AppendString(b, c.Name), ':')
		b = strconv.AppendInt(b, int64(c.N), 10)
	}
	b = jsonx.AppendBool(append(b, `},"limited":`...), s.Limited)
	b = append(b, `,"rows":[`...)
	for i, row := range s.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, row...), '}')
	}
	return append(b, `]}`...)
}

func optional(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, text)
}
