package records

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"abagraph/fact"
)

// lines reads lines of bounded length.
type lines struct {
	r      *bufio.Reader
	number int64 // of the last line
	buf    []byte
}

// next returns the next line without its end, which is valid until the one after
// it is asked for. A line that is too long is read to its end and is an error of
// its own; io.EOF is the end, and other errors are those of the source.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.buf = l.buf[:0]
	long, some := false, false
	for {
		piece, err := l.r.ReadSlice('\n')
		some = some || len(piece) > 0
		if len(l.buf)+len(piece) > MaxRecordBytes {
			long = true
		}
		if !long {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case err != nil && !some:
			return nil, io.EOF
		case long:
			return nil, tooLong()
		}
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}

func tooLong() error {
	return &Problem{Err: fact.Errorf(fact.SchemaInvalid, "it is longer than %d KiB", MaxRecordBytes>>10)}
}
