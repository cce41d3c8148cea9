package apart_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"abagraph/fact"
	"abagraph/ingest/apart"
)

// TestMain is the process apart when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "read-pdf" {
		if err := apart.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func reader(t *testing.T) *apart.Reader {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return apart.New(self, "read-pdf")
}

// file writes a PDF of objects; the first is its catalogue.
func file(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// page is a file of one page that draws content, packed by a dictionary's words.
func page(content, words, font string) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write([]byte(content)) // a buffer takes everything
	_ = w.Close()
	return file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream", z.Len(), words, z.String()), font)
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

// TestLinesAndSpaces: a page is read as it is seen, however its pieces were placed.
func TestLinesAndSpaces(t *testing.T) {
	content := "BT /F1 12 Tf 72 720 Td [(Sar) -20 (ah) -333 (Lee)] TJ 0 -14 Td (leads Atlas.) Tj 0 -40 Td (Next) Tj ET\n" +
		"q 1 0 0 1 0 -300 cm BT /F1 12 Tf 1 0 0 1 72 720 Tm (Far) Tj 1 0 0 1 300 720 Tm (column) Tj ET Q"
	d, err := reader(t).PDF(t.Context(), "a", page(content, "", helvetica))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.String(); got != "Sarah Lee\nleads Atlas.\n\nNext\n\nFar column\n\n" {
		t.Errorf("%q", got)
	}
}

// TestPDFsThatHurt end by themselves or are ended, and each is told to be at fault.
func TestPDFsThatHurt(t *testing.T) {
	differences := "<< /Type /Font /Subtype /Type1 /Encoding << /Differences [0 " + strings.Repeat("/a ", 300_000) + "] >> >>"
	for name, raw := range map[string][]byte{
		"nothing":          nil,
		"no PDF":           []byte("%PDF-1.4 and no more"),
		"rows of 1 TiB":    page("BT (a) Tj ET", "/DecodeParms << /Predictor 12 /Columns 1099511627776 >>", helvetica),
		"rows of 16 GiB":   page("BT (a) Tj ET", "/DecodeParms << /Predictor 12 /Columns 17179869184 >>", helvetica),
		"numbers for ever": page(strings.Repeat("1 ", 8<<20), "", helvetica),
		"a bomb":           page(strings.Repeat(" ", 4<<20), "", helvetica),
	} {
		if d, err := reader(t).PDF(t.Context(), "a", raw); fact.CodeOf(err) != fact.SchemaInvalid || !strings.HasPrefix(err.Error(), "content is ") {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	// Codes of a page are looked up once each, however long the tables of its font are.
	if _, err := reader(t).PDF(t.Context(), "a", page("BT /F1 9 Tf ("+strings.Repeat("ab", 200_000)+") Tj ET", "", differences)); err != nil {
		t.Errorf("a long table: %v", err)
	}
}

// TestReadersTakeTurns: one PDF of a tenant at a time, a caller who has gone leaves, and
// a program that is not there is no fault of the PDF's.
func TestReadersTakeTurns(t *testing.T) {
	r, raw := reader(t), page("BT /F1 12 Tf (Hello there) Tj ET", "", helvetica)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			if d, err := r.PDF(t.Context(), fmt.Sprint("t", i%2), raw); err != nil || !strings.Contains(d.String(), "Hello there") {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
	all.Wait()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.PDF(gone, "a", raw); err != context.Canceled {
		t.Errorf("a caller who has gone: %v", err)
	}
	if _, err := apart.New("/no/such/program").PDF(t.Context(), "a", raw); err == nil || fact.CodeOf(err) == fact.SchemaInvalid {
		t.Errorf("no program: %v", err)
	}
}
