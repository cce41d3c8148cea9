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
	maxTree     = 16 // levels of the tree of pages
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
	if err := checkPDF(raw); err != nil {
		return fact.Invalid("content", "is a PDF that cannot be read safely: it is "+err.Error())
	}
	file := &budgeted{bytes.NewReader(raw), readsPerPDF + 64*int64(len(raw))}
	r, err := pdf.NewReader(file, int64(len(raw)))
	if err != nil {
		return fact.Invalid("content", "is no PDF that can be read")
	}
	if !r.Trailer().Key("Encrypt").IsNull() {
		return fact.Invalid("content", "is an encrypted PDF")
	}
	pages := leaves(r.Trailer().Key("Root").Key("Pages"), nil, 0)
	if len(pages) > maxPages {
		return fact.Invalid("content", "is a PDF of more than 2,000 pages")
	}
	for n, page := range pages {
		text, err := page.GetPlainText(nil)
		if err != nil {
			d.Notes = append(d.Notes, "page "+strconv.Itoa(n+1)+" could not be read")
			continue
		}
		for block := range strings.SplitSeq(text, "\n\n") {
			d.add("page "+strconv.Itoa(n+1), strings.ToValidUTF8(block, "\ufffd"))
		}
	}
	if d.Empty() {
		return fact.Invalid("content", "is a PDF without text: pictures of pages are not read")
	}
	return nil
}

// leaves lists the pages below a node of the tree, one more than the most at most.
func leaves(v pdf.Value, list []pdf.Page, depth int) []pdf.Page {
	if depth > maxTree || len(list) > maxPages {
		return list
	}
	switch v.Key("Type").Name() {
	case "Page":
		return append(list, pdf.Page{V: v})
	case "Pages":
		kids := v.Key("Kids")
		for i := 0; i < min(kids.Len(), maxPages+1); i++ {
			list = leaves(kids.Index(i), list, depth+1)
		}
	}
	return list
}
