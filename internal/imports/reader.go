package imports

import (
	"errors"
	"fmt"
	"io"
)

// reader yields the records of a file in their order.
type reader interface {
	// next returns a record and its row. A record that cannot be read comes
	// with an error of kind *badRecord, and the next one can be asked for;
	// io.EOF ends the file; any other error ends the reading.
	next() (record, row, error)
	// parse reads a record's bytes again.
	parse(raw []byte) (row, error)
}

// badRecord says why one record cannot be read.
type badRecord struct{ reason string }

func (b *badRecord) Error() string { return b.reason }

func bad(format string, args ...any) error { return &badRecord{fmt.Sprintf(format, args...)} }

// asBad makes any error of reading one record a *badRecord.
func asBad(err error) error {
	var b *badRecord
	if err == nil || errors.As(err, &b) || errors.Is(err, io.EOF) {
		return err
	}
	return &badRecord{err.Error()}
}

var errTooLong = &badRecord{fmt.Sprintf("it is longer than %d MiB", MaxRecordBytes>>20)}

// open starts reading a source.
func open(s *Source, o *Options) (reader, error) {
	from, err := s.begin()
	if err != nil {
		return nil, err
	}
	lines := newLineReader(s.file, from, s.size)
	switch o.Format {
	case JSONLines:
		return openJSON(s, lines, o)
	case CSV:
		return openCSV(lines, o)
	case NTriples:
		return &triples{lines: lines, options: o}, nil
	}
	return nil, fmt.Errorf("there is no format %q", o.Format)
}
