package load

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"abagraph/fact"
)

// maxBadRows is how many rows that cannot be read are told of one by one.
const maxBadRows = 20

// Bounds of a table: what its header may say of each value, and what the whole may
// grow to by that.
const (
	maxColumnName = 100
	maxGrowth     = 8
)

// csv makes one line of each row, under the header.
func (d *Document) csv(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, false
	if head, _, _ := strings.Cut(text, "\n"); strings.Count(head, ";") > strings.Count(head, ",") {
		r.Comma = ';'
	} else if strings.Count(head, "\t") > strings.Count(head, ",") {
		r.Comma = '\t'
	}
	var header []string
	bad, grown := 0, 0
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			if bad++; bad <= maxBadRows {
				d.Notes = append(d.Notes, "a row could not be read: "+err.Error())
			}
			if bad > maxBadRows {
				d.Notes = append(d.Notes, "the rest of the table was not read")
				return nil
			}
			continue
		}
		if header == nil {
			for i := range row {
				row[i] = short(strings.TrimSpace(row[i]), maxColumnName)
			}
			header = row
			continue
		}
		said := "row " + strconv.Itoa(line) + ": " + named(header, row)
		if grown += len(said); grown > maxGrowth*len(text)+1<<20 {
			return fact.Invalid("content", "is a table whose column names are too long for its rows: each value is told with the name of its column")
		}
		d.add("rows of a table", said)
	}
	return nil
}

// named writes a row as name = value; name = value.
func named(header, row []string) string {
	var b strings.Builder
	for i, value := range row {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if i < len(header) {
			b.WriteString(header[i] + " = ")
		}
		b.WriteString(value)
	}
	return b.String()
}

// cards cuts a calendar or an address book at its components, and unfolds their
// lines.
func (d *Document) cards(text string) {
	text = strings.NewReplacer("\n ", "", "\n\t", "").Replace(text)
	var block []string
	for line := range strings.SplitSeq(text, "\n") {
		upper := strings.ToUpper(line)
		switch {
		case upper == "BEGIN:VCALENDAR", upper == "END:VCALENDAR":
			continue
		case strings.HasPrefix(upper, "BEGIN:") && len(block) > 0 && !strings.HasPrefix(upper, "BEGIN:VALARM"):
			d.add("", strings.Join(block, "\n"))
			block = block[:0]
		}
		block = append(block, unescaped(line))
	}
	d.add("", strings.Join(block, "\n"))
}

var cardEscapes = strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`)

func unescaped(line string) string { return cardEscapes.Replace(line) }
