package report

import (
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Markdown shows a document that was read back from JSON. What is no document gives an
// empty page.
func Markdown(v jsonx.Value) string {
	var b strings.Builder
	b.WriteString("# " + escape(text(v, "title")) + "\n\nFrom " + at(v, "from") + " to " + at(v, "to") + ", as known at tx " + raw(v, "tx") + ".")
	for _, by := range [...]string{"subject", "predicate"} {
		if name := text(v, by); name != "" {
			b.WriteString(" Of the " + by + " " + escape(name) + " only.")
		}
	}
	b.WriteString("\n")
	sections, _ := v.Field("sections")
	for _, s := range sections.Kids {
		section(&b, s)
	}
	return b.String()
}

func section(b *strings.Builder, s jsonx.Value) {
	place, known := Place(text(s, "name"))
	if !known {
		return
	}
	k := &kinds[place]
	b.WriteString("\n## " + k.heading + "\n\n")
	counts, _ := s.Field("counts")
	for i, c := range counts.Kids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Raw + " " + strings.ReplaceAll(c.Name, "_", " "))
	}
	b.WriteString(".\n")
	rows, _ := s.Field("rows")
	if len(rows.Kids) > 0 {
		table(b, k.columns, rows.Kids)
	}
	if limited, _ := s.Field("limited"); limited.Bool {
		b.WriteString("\nThere are more: these are " + strconv.Itoa(len(rows.Kids)) + " of them.\n")
	}
}

func table(b *strings.Builder, columns []string, rows []jsonx.Value) {
	b.WriteString("\n")
	for _, c := range columns {
		b.WriteString("| " + strings.ReplaceAll(strings.TrimSuffix(c, "_at"), "_", " ") + " ")
	}
	b.WriteString("|\n" + strings.Repeat("|---", len(columns)) + "|\n")
	for _, row := range rows {
		for _, c := range columns {
			b.WriteString("| " + cell(row, c) + " ")
		}
		b.WriteString("|\n")
	}
}

// cell shows one value of a row.
func cell(row jsonx.Value, column string) string {
	v, given := row.Field(column)
	switch {
	case !given || v.Kind == jsonx.Null:
		return ""
	case v.Kind == jsonx.String:
		return escape(v.Text)
	case v.Kind == jsonx.Array:
		list := make([]string, len(v.Kids))
		for i, one := range v.Kids {
			list[i] = escape(one.Text)
		}
		return strings.Join(list, "; ")
	case strings.HasSuffix(column, "_at"):
		return at(row, column)
	}
	return v.Raw
}

// escape keeps a text from being anything but text, on one line.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]|~#", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r < 0x20 || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func text(v jsonx.Value, name string) string {
	f, _ := v.Field(name)
	return f.Text
}

func raw(v jsonx.Value, name string) string {
	f, _ := v.Field(name)
	return f.Raw
}

// at shows an instant to the second, in UTC.
func at(v jsonx.Value, name string) string {
	n, err := strconv.ParseInt(raw(v, name), 10, 64)
	if err != nil {
		return raw(v, name)
	}
	return fact.Instant(n).Time().UTC().Format("2006-01-02 15:04:05Z")
}
