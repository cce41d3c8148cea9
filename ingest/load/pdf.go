package load

import (
	"bytes"
	"encoding/base64"
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
	maxUnread   = 20 // pages that could not be read are told of one by one
)

// PDFText reads the text of a PDF. Its work is not bounded in time and memory but by
// what checkPDF refuses: a server has it done in a process of its own.
func PDFText(raw []byte) (*Document, error) {
	d := &Document{Written: fact.NoInstant}
	return d, d.pdf(raw)
}

// PDFBytes takes a PDF out of the base64 in which it is sent.
func PDFBytes(content string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
	if err != nil {
		return nil, fact.Invalid("content", "must be base64 for application/pdf")
	}
	return raw, nil
}

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
	total, unread := 0, 0
	for n, page := range pages {
		text, err := pageText(page)
		if total += len(text); total > maxPDFText {
			return fact.Invalid("content", "is a PDF of more than 32 MiB of text")
		}
		if err != nil {
			if unread++; unread <= maxUnread {
				d.Notes = append(d.Notes, "page "+strconv.Itoa(n+1)+" could not be read")
			}
			continue
		}
		for block := range strings.SplitSeq(text, "\n\n") {
			d.add("page "+strconv.Itoa(n+1), strings.ToValidUTF8(block, "\ufffd"))
		}
	}
	if unread > maxUnread {
		d.Notes = append(d.Notes, strconv.Itoa(unread)+" pages could not be read")
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
