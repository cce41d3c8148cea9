package records

import (
	"errors"
	"io"

	"abagraph/fact"
	"abagraph/internal/jsonx"

	"github.com/go-json-experiment/json/jsontext"
)

// array reads the elements of one JSON array.
type array struct {
	counted *counted
	decoder *jsontext.Decoder
	opened  bool
}

func newArray(source io.Reader) *array {
	c := &counted{r: source}
	return &array{counted: c, decoder: cutter(c)}
}

// cutter finds where values begin and end. What else is wrong with one is for whoever
// reads it, so that it costs its record alone.
func cutter(r io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// counted counts lines, and bounds how much one element may take.
type counted struct {
	r    io.Reader
	left int
	// read counts bytes; ends holds the offsets of line ends that lie after the last
	// place asked for, and line how many lie before it.
	read int64
	ends []int64
	line int64
	err  error // of the source
}

var errElement = errors.New("the element is too long")

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errElement
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// before counts the line ends before an offset. Offsets must not go back.
func (c *counted) before(offset int64) int64 {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < offset {
		passed++
	}
	c.line += int64(passed)
	c.ends = c.ends[passed:]
	return c.line
}

// place is the line that the array has been read up to.
func (r *Reader) place() int64 {
	return r.in.number + 1 + r.array.counted.before(r.array.decoder.InputOffset())
}

// element reads the next element. Where the array breaks, what follows is lost,
// and the problem says so.
func (r *Reader) element() (Record, error) {
	a := r.array
	a.counted.left = MaxRecordBytes + 4096
	if !a.opened {
		a.opened = true
		if _, err := a.decoder.ReadToken(); err != nil {
			return r.broken(err)
		}
	}
	if a.decoder.PeekKind() == ']' {
		return r.endArray()
	}
	raw, err := a.decoder.ReadValue()
	if err != nil {
		return r.broken(err)
	}
	at := r.place()
	v, err := jsonx.Parse(raw)
	if err != nil {
		return Record{}, &Problem{Line: at, Err: err}
	}
	return Record{Line: at, Value: v}, nil
}

func (r *Reader) endArray() (Record, error) {
	r.ended = io.EOF
	if _, err := r.array.decoder.ReadToken(); err != nil {
		return r.broken(err)
	}
	r.array.counted.left = MaxRecordBytes
	if _, err := r.array.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return Record{}, r.lost("something follows the end of the array, and was not read")
	}
	return Record{}, io.EOF
}

func (r *Reader) broken(err error) (Record, error) {
	r.ended = io.EOF
	switch {
	case r.array.counted.err != nil:
		r.ended = r.array.counted.err
		return Record{}, r.ended
	case errors.Is(err, errElement):
		return Record{}, r.lost("an element of the array is longer than 1 MiB, and nothing after it was read: send one object a line")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Record{}, r.lost("the array breaks off here")
	}
	return Record{}, r.lost("the array breaks here, and nothing after it was read: it is not valid JSON")
}

func (r *Reader) lost(what string) error {
	return &Problem{Line: r.place(), Err: fact.Errorf(fact.SchemaInvalid, "%s", what)}
}
