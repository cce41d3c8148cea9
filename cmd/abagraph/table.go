package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"encoding/json"

	"abagraph/client"
	"abagraph/fact"
)

// table lines up cells for a person. What does not fit the width is cut with
// an ellipsis, in the widest column first.
type table struct {
	width int
	rows  [][]string
	after []string
}

func newTable(width int) *table { return &table{width: width} }

func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = plain(cell)
	}
	t.rows = append(t.rows, cells)
}

// line adds a line below the table.
func (t *table) line(format string, args ...any) {
	t.after = append(t.after, plain(fmt.Sprintf(format, args...)))
}

// plain makes text safe to print: a line end or an escape sequence in a fact
// must not move the reader's cursor.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '·'
		}
		return r
	}, text)
}

const gap = "  "

func (t *table) write(w io.Writer) error {
	var b bytes.Buffer
	widths := t.widths()
	for _, row := range t.rows {
		for i, cell := range row {
			cell = cut(cell, widths[i])
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + gap)
			}
		}
		b.WriteByte('\n')
	}
	for _, line := range t.after {
		b.WriteString(line + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	const least = 12
	for {
		total, widest := 0, 0
		for i, width := range widths {
			total += width + len(gap)
			if width > widths[widest] {
				widest = i
			}
		}
		if len(widths) == 0 || total-len(gap) <= t.width || widths[widest] <= least {
			return widths
		}
		widths[widest]--
	}
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width-1]) + "…"
}

// factTable shows a list of facts, or one fact.
func factTable(t *table, raw []byte) error {
	facts, err := decodeFacts(raw)
	if err != nil {
		return err
	}
	factRows(t, facts)
	switch len(facts) {
	case 0:
		t.rows = nil
		t.line("no facts")
	case 1:
		t.line("1 fact")
	default:
		t.line("%d facts", len(facts))
	}
	return nil
}

func decodeFacts(raw []byte) ([]client.Fact, error) {
	var facts []client.Fact
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return facts, json.Unmarshal(raw, &facts)
	}
	var one client.Fact
	err := json.Unmarshal(raw, &one)
	return []client.Fact{one}, err
}

func factRows(t *table, facts []client.Fact) {
	t.row("SUBJECT", "PREDICATE", "OBJECT", "FROM", "UNTIL", "STATUS", "CONF", "SOURCE", "TX", "ID")
	for i := range facts {
		f := &facts[i]
		source := ""
		if f.Source != nil {
			source = *f.Source
		}
		t.row(f.Subject, f.Predicate, objectText(f.Object), instantText(f.ValidFrom), instantText(f.ValidUntil), f.Status,
			fmt.Sprintf("%.2f", f.Confidence), source, fmt.Sprint(f.Tx), f.ID)
	}
}

func objectText(o fact.Object) string {
	switch o.Kind {
	case fact.Null:
		return "null"
	case fact.Bool:
		return fmt.Sprint(o.Bool)
	case fact.Blob:
		return fmt.Sprintf("blob %.12s… (%d bytes)", o.Text, o.Size)
	}
	return o.Text
}

// instantText writes a time in UTC, as short as it can be without loss.
func instantText(t fact.Instant) string {
	switch {
	case t == fact.Forever, !t.Given():
		return ""
	case t%86_400_000 == 0:
		return t.Time().Format("2006-01-02")
	case t%1000 == 0:
		return t.Time().Format(time.RFC3339)
	}
	return t.Time().Format("2006-01-02T15:04:05.000Z07:00")
}
