package records

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// maxColumns bounds a header.
const maxColumns = 1_000

// csvReader reads CSV with a header (RFC 4180): the names are those of the
// record's fields, every cell is a text, and an empty one is no value.
type csvReader struct {
	in     *lines
	header []string
}

func newCSV(in *lines) *csvReader { return &csvReader{in: in} }

func (c *csvReader) next() (Record, error) {
	if c.header == nil {
		if err := c.readHeader(); err != nil {
			return Record{}, err
		}
	}
	cells, at, err := c.row()
	if err != nil {
		return Record{}, err
	}
	if len(cells) != len(c.header) {
		return Record{}, &Problem{Line: at, Err: fact.Errorf(fact.SchemaInvalid, "it has %d cells, the header has %d", len(cells), len(c.header))}
	}
	v := jsonx.Value{Kind: jsonx.Object}
	for i, cell := range cells {
		if cell != "" {
			v.Kids = append(v.Kids, jsonx.Value{Kind: jsonx.String, Name: c.header[i], Text: cell})
		}
	}
	return Record{Line: at, Value: v}, nil
}

func (c *csvReader) readHeader() error {
	names, _, err := c.row()
	if errors.Is(err, io.EOF) {
		return fact.Errorf(fact.SchemaInvalid, "the body is empty: it must begin with a header")
	}
	if err != nil {
		return fact.Errorf(fact.SchemaInvalid, "the CSV header cannot be read: %v", err)
	}
	if len(names) > maxColumns {
		return fact.Errorf(fact.SchemaInvalid, "the CSV header has more than %d columns", maxColumns)
	}
	seen := make(map[string]bool)
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if seen[names[i]] {
			return fact.Errorf(fact.SchemaInvalid, "the CSV header names the column %q twice", names[i])
		}
		seen[names[i]] = true
	}
	c.header = names
	return nil
}

// row reads the cells of the next row that is not blank: a quoted cell may hold
// line ends.
func (c *csvReader) row() ([]string, int64, error) {
	var text []byte
	for len(bytes.TrimSpace(text)) == 0 {
		var err error
		if text, err = c.in.next(); err != nil {
			return nil, c.in.number, err
		}
	}
	at := c.in.number
	row := bytes.Clone(text)
	for open := openQuote(row); open; {
		line, err := c.in.next()
		if errors.Is(err, io.EOF) {
			return nil, at, &Problem{Line: at, Err: fact.Errorf(fact.SchemaInvalid, "a quote is opened that is never closed")}
		}
		if err != nil {
			return nil, at, err
		}
		row = append(append(row, '\n'), line...)
		open = !openQuote(line)
		if len(row) > MaxRecordBytes {
			return nil, at, &Problem{Line: at, Err: fact.Errorf(fact.SchemaInvalid, "a quote is opened that is not closed within %d KiB", MaxRecordBytes>>10)}
		}
	}
	if !utf8.Valid(row) {
		return nil, at, &Problem{Line: at, Err: fact.Errorf(fact.SchemaInvalid, "it is not valid UTF-8")}
	}
	cells, err := parseRow(row)
	if err != nil {
		return nil, at, &Problem{Line: at, Err: err}
	}
	return cells, at, nil
}

// openQuote reports whether a text has an odd number of quotes: a cell that is open
// at its beginning is closed at its end, or the other way round.
func openQuote(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

func parseRow(row []byte) ([]string, error) {
	parser := csv.NewReader(bytes.NewReader(row))
	parser.FieldsPerRecord = -1
	cells, err := parser.Read()
	if err != nil {
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return nil, fact.Errorf(fact.SchemaInvalid, "it is not valid CSV: %v", err)
	}
	return cells, nil
}
