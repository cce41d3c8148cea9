package load

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"

	"abagraph/fact"
)

// Bounds of a PDF.
const (
	maxPDFBytes = 32 << 20
	maxPages    = 2_000
)

// pdf reads the text of each page. The library panics on what is no PDF, which is
// an error of the content and not of ours.
func (d *Document) pdf(raw []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = fact.Invalid("content", "is no PDF that can be read")
		}
	}()
	if len(raw) > maxPDFBytes {
		return fact.Invalid("content", "is a PDF of more than 32 MiB")
	}
	r, err := pdf.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return fact.Invalid("content", "is no PDF that can be read")
	}
	pages := r.NumPage()
	if pages > maxPages {
		return fact.Invalid("content", "is a PDF of more than 2,000 pages")
	}
	for n := 1; n <= pages; n++ {
		page := r.Page(n)
		if page.V.IsNull() {
			continue
		}
		text, err := page.GetPlainText(nil)
		if err != nil {
			d.Notes = append(d.Notes, "page "+strconv.Itoa(n)+" could not be read")
			continue
		}
		for block := range strings.SplitSeq(text, "\n\n") {
			d.add("page "+strconv.Itoa(n), strings.ToValidUTF8(block, "\ufffd"))
		}
	}
	if d.Empty() {
		return fact.Invalid("content", "is a PDF without text: pictures of pages are not read")
	}
	return nil
}
