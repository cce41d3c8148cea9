package imports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"abagraph/fact"
)

// csvRows reads CSV with a header (RFC 4180). An empty cell is an absent value,
// except for the object, where it is the empty text.
type csvRows struct {
	lines   *lineReader
	options *Options
	header  []string
}

func openCSV(lines *lineReader, o *Options) (reader, error) {
	c := &csvRows{lines: lines, options: o}
	for {
		raw, at, err := c.record()
		if errors.Is(err, io.EOF) {
			return c, nil // an empty file: next says so too
		}
		if err != nil {
			return nil, fmt.Errorf("read the CSV header: line %d: %w", at.line, err)
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if bytes.IndexByte(bytes.ReplaceAll(raw, []byte("\r\n"), nil), '\r') >= 0 {
			return nil, errors.New("the lines of the CSV file end in a carriage return alone: convert it first, as with tr '\\r' '\\n'")
		}
		if c.header, err = c.cells(raw); err != nil {
			return nil, fmt.Errorf("read the CSV header: line %d: %w", at.line, err)
		}
		return c, c.checkHeader()
	}
}

// checkHeader refuses a header that no row could be read by, before any row is
// refused for it.
func (c *csvRows) checkHeader() error {
	seen := map[string]bool{}
	for i, name := range c.header {
		name = strings.TrimSpace(name)
		c.header[i] = name
		if seen[name] {
			return fmt.Errorf("the CSV header names the column %q twice", name)
		}
		seen[name] = true
		f := fields{options: c.options}
		if err := f.apply(name, jsontext.Value("null")); err != nil && strings.HasPrefix(err.Error(), "there is no field") {
			return fmt.Errorf("the CSV header is not understood: %w", err)
		}
	}
	if err := c.missing(); err != nil {
		return err
	}
	for _, want := range []string{"subject", "predicate", "object"} {
		if !c.provides(want) {
			return fmt.Errorf("the CSV header (%s) has no column %q: name it by --map COLUMN=%s", strings.Join(c.header, ", "), want, want)
		}
	}
	return nil
}

// missing names a column that an option speaks of and the file does not have: most
// likely it is misspelt, and its column would be read as if nothing had been said.
func (c *csvRows) missing() error {
	for _, name := range append(slices.Sorted(maps.Keys(c.options.Map)), c.options.KnownAt, c.options.RetractedAt) {
		if name != "" && !slices.Contains(c.header, name) {
			return fmt.Errorf("the CSV header (%s) has no column %q", strings.Join(c.header, ", "), name)
		}
	}
	return nil
}

func (c *csvRows) provides(field string) bool {
	return slices.ContainsFunc(c.header, func(name string) bool {
		to, mapped := c.options.Map[name]
		return mapped && to == field || !mapped && name == field
	})
}

func (c *csvRows) next() (record, row, error) {
	for {
		raw, at, err := c.record()
		if err != nil {
			return at, row{}, err
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		r, err := c.parse(raw)
		return at, r, err
	}
}

// record reads the lines of one record: a quoted cell may hold line ends. A
// quote that is never closed costs the line that it stands in, not the file.
func (c *csvRows) record() ([]byte, record, error) {
	text, at, err := c.lines.next()
	if err != nil {
		return nil, at, err
	}
	if text == nil {
		return nil, at, errTooLong
	}
	if !openQuote(text) {
		return text, at, nil
	}
	after, number, length := c.lines.offset, c.lines.number, int64(len(text))
	for {
		more, next, err := c.lines.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, at, err
		}
		if err != nil || more == nil || length+int64(len(more)) > MaxRecordBytes {
			c.lines.seek(after, number)
			return nil, at, bad("a quote is opened that is never closed")
		}
		length += int64(len(more)) + 2
		if !openQuote(more) {
			continue
		}
		at.size = int32(next.offset + int64(next.size) - at.offset)
		whole := make([]byte, at.size)
		if _, err := c.lines.file.ReadAt(whole, at.offset); err != nil {
			return nil, at, fmt.Errorf("read the file again: %w", err)
		}
		return whole, at, nil
	}
}

// openQuote reports whether a text has an odd number of quotes: a cell that is
// open at its beginning is closed at its end, or the other way round.
func openQuote(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

func (c *csvRows) cells(raw []byte) ([]string, error) {
	parser := csv.NewReader(bytes.NewReader(raw))
	parser.FieldsPerRecord = -1
	if c.options.Delimiter != 0 {
		parser.Comma = c.options.Delimiter
	}
	cells, err := parser.Read()
	if err != nil {
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return nil, bad("it is not valid CSV: %v", err)
	}
	return cells, nil
}

func (c *csvRows) parse(raw []byte) (row, error) {
	cells, err := c.cells(raw)
	if err != nil {
		return row{}, err
	}
	if len(cells) != len(c.header) {
		return row{}, bad("it has %d cells, the header has %d", len(cells), len(c.header))
	}
	f := fields{options: c.options, row: row{known: fact.NoInstant, retracted: fact.NoInstant}}
	for i, cell := range cells {
		value, err := c.value(c.header[i], cell)
		if err != nil {
			return row{}, err
		}
		if value == nil {
			continue
		}
		if err := f.apply(c.header[i], value); err != nil {
			return row{}, asBad(err)
		}
	}
	r, err := f.finish()
	return r, asBad(err)
}

// value writes a cell as the JSON that its column holds; nil = absent.
func (c *csvRows) value(name, cell string) (jsontext.Value, error) {
	if to, mapped := c.options.Map[name]; mapped {
		name = to
	}
	if name == "object" {
		return c.object(cell)
	}
	if cell == "" && name != "subject" && name != "predicate" {
		return nil, nil
	}
	switch name {
	case "confidence", "transient", "properties":
		value := jsontext.Value(strings.TrimSpace(cell))
		if !value.IsValid() {
			return nil, asBad(fact.Invalid(name, "is not valid JSON"))
		}
		return value, nil
	}
	return quoted(cell)
}

func (c *csvRows) object(cell string) (jsontext.Value, error) {
	value := jsontext.Value(cell)
	if c.options.Typed && value.IsValid() {
		switch value.Kind() {
		case '0', 't', 'f', 'n':
			return jsontext.Value(strings.TrimSpace(cell)), nil
		}
	}
	return quoted(cell)
}
