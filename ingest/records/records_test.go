package records_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"abagraph/ingest/records"
)

// read reads everything, and returns how many records and problems there are, and the
// error that ended it.
func read(source io.Reader, format records.Format) (good, bad int, err error) {
	r := records.New(source, format, 1<<20)
	last := int64(0)
	for range 1 << 20 {
		rec, err := r.Next()
		var problem *records.Problem
		switch {
		case errors.Is(err, io.EOF):
			return good, bad, nil
		case errors.As(err, &problem):
			bad++
			rec.Line = problem.Line
			if problem.Error() == "" {
				return good, bad, errors.New("a problem without a reason")
			}
		case err != nil:
			return good, bad, err
		default:
			good++
		}
		if rec.Line < last {
			return good, bad, errors.New("the lines go back")
		}
		last = rec.Line
	}
	return good, bad, errors.New("it never ends")
}

// FuzzRecords cuts arbitrary bytes: it ends, never panics, and says the same however
// the bytes arrive.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		"", "null", "[]", "[1,{}]", "{}", "{\n}", "{\"a\":1}\n{\"a\":2} {\"a\":3}\n", "[{\"a\":1},", "\ufeff{\"a\":1}\r\n", "a,b\n1,\"x\ny\"\n", "\"", "[[[[", "{\"a\":\n", "\xff\xfe{",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, csv bool) {
		format := records.JSON
		if csv {
			format = records.CSV
		}
		good, bad, err := read(strings.NewReader(string(text)), format)
		good2, bad2, err2 := read(iotest.OneByteReader(strings.NewReader(string(text))), format)
		if good != good2 || bad != bad2 || (err == nil) != (err2 == nil) {
			t.Fatalf("%d good, %d bad, %v; byte by byte %d, %d, %v", good, bad, err, good2, bad2, err2)
		}
		if err != nil && (strings.Contains(err.Error(), "never ends") || strings.Contains(err.Error(), "go back") || strings.Contains(err.Error(), "without a reason")) {
			t.Fatal(err)
		}
	})
}

// A source that never ends is read record by record; one that fails says so.
func TestEndlessAndFailingSources(t *testing.T) {
	line := "{\"id\":1}\n"
	r := records.New(io.MultiReader(strings.NewReader(strings.Repeat(line, 10)), iotest.ErrReader(errors.New("cut off"))), records.JSON, 1<<20)
	n := 0
	for {
		_, err := r.Next()
		if err != nil {
			if err.Error() != "cut off" {
				t.Errorf("ended by %v", err)
			}
			break
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d records before the failure", n)
	}
	if _, err := r.Next(); err == nil || err.Error() != "cut off" {
		t.Errorf("asked again: %v", err)
	}
	spaces := io.MultiReader(strings.NewReader("{\"id\":1}\n"), io.LimitReader(zeroes{}, 64<<20))
	if good, bad, err := read(spaces, records.JSON); good != 1 || bad != 1 || err != nil {
		t.Errorf("64 MiB of one line: %d good, %d bad, %v", good, bad, err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
