package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// frame is one event of a text/event-stream, or a comment or id without data.
type frame struct {
	id    string
	hasID bool
	event string
	data  []byte
}

var errFrameTooLong = errors.New("an event of the stream is longer than the client allows")

// frameReader reads frames; no frame may hold more than most bytes.
type frameReader struct {
	r    *bufio.Reader
	most int64
	// heard is called for each line, comments included.
	heard func()
}

// next reads up to the empty line that ends a frame. A frame that the end of
// the stream cuts off is dropped, as the format asks.
func (f *frameReader) next() (frame, error) {
	var got frame
	var size int64
	for {
		line, err := f.line(f.most - size)
		if err != nil {
			return frame{}, err
		}
		f.heard()
		size += int64(len(line))
		if len(line) == 0 {
			return got, nil
		}
		got.take(line)
	}
}

func (f *frameReader) line(most int64) ([]byte, error) {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > most {
			return nil, errFrameTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, endOf(err)
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // a stream has no end of its own
	}
	return err
}

func (f *frame) take(line []byte) {
	name, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		if !strings.ContainsRune(value, 0) {
			f.id, f.hasID = value, true
		}
	case "event":
		f.event = value
	case "data":
		if f.data != nil {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
	}
}
