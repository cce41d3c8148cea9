package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// MaxRecordBytes is the most that one record may have.
const MaxRecordBytes = 1 << 20

// Format says what a source sends.
type Format uint8

// The formats: JSON is an object, an array or lines of objects, whichever it is.
const (
	JSON Format = iota
	CSV
)

// Record is one record of a source. Line is where it begins, from 1; of an array,
// where its element ends.
type Record struct {
	Line  int64
	Value jsonx.Value
}

// Problem is the error of one record: the next one may be read. It may also be the
// last thing that could be read, where what follows cannot be cut into records.
type Problem struct {
	Line int64
	Err  error
}

// Error returns the reason.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns the reason.
func (p *Problem) Unwrap() error { return p.Err }

// Reader reads records one after another.
type Reader struct {
	in    *lines
	array *array
	csv   *csvReader
	rest  []byte // what is left of a line with several values
	whole int    // how much may be read at once to find one object
	begun bool
	// ended is what every later call answers.
	ended error
}

// New reads records. An object that is written over several lines may have up to
// whole bytes.
func New(source io.Reader, format Format, whole int64) *Reader {
	r := &Reader{in: &lines{r: bufio.NewReaderSize(source, 64<<10)}, whole: int(min(whole, 1<<30))}
	if format == CSV {
		r.csv = newCSV(r.in)
	}
	return r
}

// Next returns the next record. A *Problem is about one record; io.EOF is the end;
// any other error is the source's, or that the whole cannot be read.
func (r *Reader) Next() (Record, error) {
	if r.ended != nil {
		return Record{}, r.ended
	}
	rec, err := r.next()
	var one *Problem
	switch {
	case err == nil:
	case errors.As(err, &one):
		if one.Line == 0 {
			one.Line = r.in.number
		}
	default:
		r.ended = err
	}
	return rec, err
}

func (r *Reader) next() (Record, error) {
	if !r.begun {
		r.begun = true
		if err := r.begin(); err != nil {
			return Record{}, err
		}
		if r.csv == nil && r.array == nil {
			return r.first()
		}
	}
	switch {
	case r.csv != nil:
		return r.csv.next()
	case r.array != nil:
		return r.element()
	}
	return r.line()
}

// begin looks at how the source begins.
func (r *Reader) begin() error {
	head, err := r.in.r.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.Equal(head, []byte{0xEF, 0xBB, 0xBF}):
		if _, err := r.in.r.Discard(3); err != nil {
			return err
		}
	case len(head) > 1 && (head[0] == 0xFF && head[1] == 0xFE || head[0] == 0xFE && head[1] == 0xFF):
		return fact.Errorf(fact.SchemaInvalid, "the body is UTF-16: send UTF-8")
	case len(head) > 1 && (head[0] == 0 || head[1] == 0):
		return fact.Errorf(fact.SchemaInvalid, "the body is no text in UTF-8")
	}
	if r.csv != nil {
		return nil
	}
	return r.findArray()
}

// findArray skips what is blank, and sees whether an array begins there.
func (r *Reader) findArray() error {
	for {
		b, err := r.in.r.ReadByte()
		if errors.Is(err, io.EOF) {
			return fact.Errorf(fact.SchemaInvalid, "the body is empty: it must hold an object, an array of them, or one a line")
		}
		if err != nil {
			return err
		}
		switch b {
		case '\n':
			r.in.number++
		case ' ', '\t', '\r':
		default:
			if err := r.in.r.UnreadByte(); err != nil {
				return fmt.Errorf("begin to read: %w", err)
			}
			if b == '[' {
				r.array = newArray(r.in.r)
			}
			return nil
		}
	}
}

// first reads the first line. Where it is no value of its own, the whole may be
// one object over several lines.
func (r *Reader) first() (Record, error) {
	text, err := r.in.next()
	if err != nil {
		return Record{}, err
	}
	if _, err := jsonx.Parse(text); err == nil || len(text) == 0 || text[0] != '{' || !breaksOff(text) {
		r.rest = text
		return r.line()
	}
	all := append(bytes.Clone(text), '\n')
	more, err := io.ReadAll(io.LimitReader(r.in.r, int64(max(r.whole-len(all), 0))+1))
	if err != nil {
		return Record{}, err
	}
	all = append(all, more...)
	if v, err := jsonx.Parse(all); err == nil && len(all) <= r.whole {
		r.ended = io.EOF
		return Record{Line: r.in.number, Value: v}, nil
	}
	// They are lines after all, the first of which is broken.
	r.in.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(more), r.in.r), 64<<10)
	r.rest = text
	return r.line()
}

// breaksOff reports whether a text is the beginning of a value.
func breaksOff(text []byte) bool {
	_, err := cutter(bytes.NewReader(text)).ReadValue()
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// line reads the next value of the line, or of the next one that is not blank.
func (r *Reader) line() (Record, error) {
	for len(bytes.TrimSpace(r.rest)) == 0 {
		text, err := r.in.next()
		if err != nil {
			return Record{}, err
		}
		r.rest = text
	}
	text := r.rest
	v, err := jsonx.Parse(text)
	if err == nil {
		r.rest = nil
		return Record{Line: r.in.number, Value: v}, nil
	}
	// Several values in one line are records of their own.
	d := cutter(bytes.NewReader(text))
	if _, cut := d.ReadValue(); cut != nil || len(bytes.TrimSpace(text[d.InputOffset():])) == 0 {
		r.rest = nil
		return Record{}, &Problem{Err: err}
	}
	end := d.InputOffset()
	r.rest = text[end:]
	if v, err = jsonx.Parse(text[:end]); err != nil {
		return Record{}, &Problem{Err: err}
	}
	return Record{Line: r.in.number, Value: v}, nil
}
