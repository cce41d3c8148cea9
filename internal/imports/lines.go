package imports

import (
	"bufio"
	"errors"
	"io"
)

// record is where one row lies in a file.
type record struct {
	line   int64 // of its first byte, from 1
	offset int64
	size   int32
}

// lineReader reads lines of bounded length and knows where they lie.
type lineReader struct {
	file   io.ReaderAt
	size   int64
	r      *bufio.Reader
	offset int64 // of the next line
	number int64 // of the next line, from 1
}

func newLineReader(file io.ReaderAt, from, size int64) *lineReader {
	l := &lineReader{file: file, size: size}
	l.seek(from, 1)
	return l
}

// seek goes to the beginning of a line.
func (l *lineReader) seek(offset, number int64) {
	section := io.NewSectionReader(l.file, offset, max(l.size-offset, 0))
	l.r, l.offset, l.number = bufio.NewReaderSize(section, 256<<10), offset, number
}

// next returns a line with its end taken off, and where it lies. The text of a
// line over MaxRecordBytes is nil. io.EOF ends the file; a last line without an
// end is a line.
func (l *lineReader) next() ([]byte, record, error) {
	at := record{line: l.number, offset: l.offset}
	var text []byte
	var length int64
	for {
		part, err := l.r.ReadSlice('\n')
		length += int64(len(part))
		if length <= MaxRecordBytes {
			text = append(text, part...)
		} else {
			text = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, at, err
		}
		if length == 0 {
			return nil, at, io.EOF
		}
		break
	}
	l.offset += length
	l.number++
	if length > MaxRecordBytes {
		return nil, at, nil
	}
	for n := len(text); n > 0 && (text[n-1] == '\n' || text[n-1] == '\r'); n-- {
		text = text[:n-1]
	}
	if text == nil {
		text = []byte{}
	}
	at.size = int32(len(text))
	return text, at, nil
}
