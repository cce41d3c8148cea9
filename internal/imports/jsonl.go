package imports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"abagraph/fact"
)

const jsonBlanks = " \t\r\n"

// jsonRows parses JSON objects into rows.
type jsonRows struct{ options *Options }

func (j jsonRows) parse(raw []byte) (row, error) {
	if kind := jsontext.Value(raw).Kind(); kind != '{' {
		return row{}, bad("it is no JSON object: %s", excerpt(raw))
	}
	f := fields{options: j.options, row: row{known: fact.NoInstant, retracted: fact.NoInstant}}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.ReadToken(); err != nil {
		return row{}, brokenJSON(err)
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return row{}, brokenJSON(err)
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return row{}, brokenJSON(err)
		}
		if err := f.apply(key, value); err != nil {
			return row{}, asBad(err)
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return row{}, brokenJSON(err)
	}
	r, err := f.finish()
	return r, asBad(err)
}

func brokenJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return bad("it is not valid JSON: it breaks off")
	}
	return bad("it is not valid JSON: %v", err)
}

// openJSON reads JSON Lines, or one JSON array if the file begins with [.
func openJSON(s *Source, lines *lineReader, o *Options) (reader, error) {
	head := make([]byte, 4096)
	n, err := s.file.ReadAt(head, lines.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", s.Name, err)
	}
	if bytes.HasPrefix(bytes.TrimLeft(head[:n], jsonBlanks), []byte("[")) {
		return newJSONArray(s, lines.offset, o), nil
	}
	return &jsonLines{jsonRows: jsonRows{o}, lines: lines}, nil
}

// jsonLines reads one object a line; several values in one line are records of
// their own, and blank lines are none.
type jsonLines struct {
	jsonRows
	lines *lineReader
	text  []byte // what is left of the line
	at    record // where that is
}

func (j *jsonLines) next() (record, row, error) {
	for len(bytes.Trim(j.text, jsonBlanks)) == 0 {
		text, at, err := j.lines.next()
		if err != nil {
			return at, row{}, err
		}
		if text == nil {
			return at, row{}, errTooLong
		}
		j.text, j.at = text, at
	}
	blank := len(j.text) - len(bytes.TrimLeft(j.text, jsonBlanks))
	at := j.at
	at.offset += int64(blank)
	rest := j.text[blank:]
	length, err := firstValue(rest)
	if err != nil {
		at.size, j.text = int32(len(rest)), nil
		return at, row{}, err
	}
	at.size = int32(length)
	j.text, j.at.offset = rest[length:], at.offset+int64(length)
	r, err := j.parse(rest[:length])
	return at, r, err
}

// firstValue returns the length of the JSON value that a text begins with.
func firstValue(text []byte) (int, error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(text))
	if _, err := decoder.ReadValue(); err != nil {
		return 0, brokenJSON(err)
	}
	return int(decoder.InputOffset()), nil
}

// jsonArray reads the elements of one JSON array.
type jsonArray struct {
	jsonRows
	counted *countedReader
	decoder *jsontext.Decoder
	begin   int64
	opened  bool
	broken  bool
}

func newJSONArray(s *Source, from int64, o *Options) *jsonArray {
	counted := &countedReader{r: bufio.NewReaderSize(io.NewSectionReader(s.file, from, s.size-from), 256<<10), line: 1}
	return &jsonArray{jsonRows: jsonRows{o}, counted: counted, decoder: jsontext.NewDecoder(counted), begin: from}
}

func (j *jsonArray) next() (record, row, error) {
	if j.broken {
		return record{}, row{}, io.EOF
	}
	j.counted.left = MaxRecordBytes
	if !j.opened {
		if _, err := j.decoder.ReadToken(); err != nil {
			return j.breakOff(err)
		}
		j.opened = true
	}
	if j.decoder.PeekKind() == ']' {
		return j.end()
	}
	value, err := j.decoder.ReadValue()
	if err != nil {
		return j.breakOff(err)
	}
	end := j.decoder.InputOffset()
	at := record{offset: j.begin + end - int64(len(value)), size: int32(len(value)), line: j.counted.lineAt(end - int64(len(value)))}
	r, err := j.parse(value)
	return at, r, err
}

func (j *jsonArray) end() (record, row, error) {
	j.broken = true
	if _, err := j.decoder.ReadToken(); err != nil {
		return record{}, row{}, brokenJSON(err)
	}
	at := record{line: j.counted.lineAt(j.decoder.InputOffset())}
	if _, err := j.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return at, row{}, bad("something follows the end of the JSON array; nothing after it was read")
	}
	return at, row{}, io.EOF
}

// breakOff reports where the array cannot be read on: what follows is lost.
func (j *jsonArray) breakOff(err error) (record, row, error) {
	j.broken = true
	at := record{line: j.counted.lineAt(j.decoder.InputOffset())}
	return at, row{}, bad("the JSON array breaks here, and nothing after it was read: %v", err)
}

// countedReader counts lines and bounds how much one element may take.
type countedReader struct {
	r    *bufio.Reader
	left int
	// read counts bytes; ends holds the offsets of line ends that lie after the
	// last one asked for, and line the number of the line before them.
	read int64
	ends []int64
	line int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	for i := 0; i < n; i++ {
		if p[i] == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	c.left -= n
	return n, err
}

// lineAt returns the number of the line that an offset lies in. Offsets must
// not go back.
func (c *countedReader) lineAt(offset int64) int64 {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < offset {
		passed++
	}
	c.line += int64(passed)
	c.ends = c.ends[passed:]
	return c.line
}

func excerpt(raw []byte) string {
	const most = 60
	if len(raw) > most {
		return fmt.Sprintf("%q…", raw[:most])
	}
	return fmt.Sprintf("%q", raw)
}

// quoted writes text as JSON.
func quoted(text string) (jsontext.Value, error) {
	value, err := json.Marshal(text)
	if err != nil {
		return nil, bad("it is not valid UTF-8")
	}
	return value, nil
}
