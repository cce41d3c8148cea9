package load

import (
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"abagraph/fact"
)

// maxDepth is how deep elements may be nested before the rest is passed over.
const maxDepth = 512

// html reads a page token by token: what it says, block by block, under its
// headings. Scripts, styles, navigation and what is hidden say nothing.
func (d *Document) html(text string) error {
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(1 << 20)
	r := &htmlReader{d: d}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		r.token(kind, z)
	}
	r.flush()
	if err := z.Err(); err != io.EOF {
		return fact.Invalid("content", "cannot be read as HTML: a single tag is longer than 1 MiB")
	}
	return nil
}

type htmlReader struct {
	d       *Document
	path    [6]string
	text    strings.Builder
	skip    int // how many elements deep we are in what says nothing
	skipped []atom.Atom
	heading int // 1 to 6 within a heading
	title   bool
	pre     int
}

// silent are elements of which nothing is read.
var silent = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Nav: true, atom.Form: true, atom.Iframe: true,
	atom.Button: true, atom.Select: true, atom.Canvas: true, atom.Object: true, atom.Footer: true, atom.Dialog: true, atom.Math: true,
}

// breaking are elements that end a block.
var breaking = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Blockquote: true, atom.Pre: true,
	atom.Header: true, atom.Main: true, atom.Aside: true, atom.Hr: true, atom.Dl: true, atom.Figure: true, atom.Body: true,
}

func (r *htmlReader) token(kind html.TokenType, z *html.Tokenizer) {
	switch kind {
	case html.TextToken:
		if r.skip == 0 {
			r.say(string(z.Text()))
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		t := z.Token()
		r.open(t, kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := z.TagName()
		r.close(atom.Lookup(name))
	}
}

func (r *htmlReader) open(t html.Token, closed bool) {
	a := t.DataAtom
	if r.skip > 0 || silent[a] {
		if !closed && silent[a] && len(r.skipped) < maxDepth {
			r.skipped = append(r.skipped, a)
			r.skip++
		}
		return
	}
	switch a {
	case atom.Title:
		r.title = true
	case atom.Meta:
		r.meta(t)
	case atom.Time:
		r.d.written(attribute(t, "datetime"))
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flush()
		r.heading = int(t.Data[1] - '0')
	case atom.Br:
		r.text.WriteByte('\n')
	case atom.Li, atom.Tr, atom.Dt, atom.Dd:
		r.text.WriteString("\n- ")
	case atom.Td, atom.Th:
		r.text.WriteString(" | ")
	case atom.Img:
		if alt := attribute(t, "alt"); alt != "" {
			r.say(" " + alt + " ")
		}
	}
	if a == atom.Pre {
		r.pre++
	}
	if breaking[a] {
		r.flush()
	}
}

func (r *htmlReader) close(a atom.Atom) {
	if r.skip > 0 {
		for i := len(r.skipped) - 1; i >= 0; i-- {
			if r.skipped[i] == a {
				r.skipped = r.skipped[:i]
				r.skip = i
				break
			}
		}
		return
	}
	switch a {
	case atom.Title:
		r.title = false
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.endHeading()
	case atom.Pre:
		r.pre = max(0, r.pre-1)
	}
	if breaking[a] {
		r.flush()
	}
}

func (r *htmlReader) say(text string) {
	if r.title {
		if r.d.Title == "" {
			r.d.Title = squeeze(text)
		}
		return
	}
	if r.pre > 0 {
		r.text.WriteString(text)
		return
	}
	if text == "" {
		return
	}
	lead, trail := isSpace(text[0]), isSpace(text[len(text)-1])
	words := squeeze(text)
	if lead && r.text.Len() > 0 {
		r.text.WriteByte(' ')
	}
	r.text.WriteString(words)
	if trail && words != "" {
		r.text.WriteByte(' ')
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

func (r *htmlReader) endHeading() {
	level := r.heading
	r.heading = 0
	if level == 0 {
		return
	}
	r.path[level-1] = squeeze(r.text.String())
	clear(r.path[level:])
	r.text.Reset()
}

func (r *htmlReader) flush() {
	if r.heading > 0 {
		return
	}
	r.d.add(join(r.path[:]), strings.TrimSpace(r.text.String()))
	r.text.Reset()
}

// meta reads the day that a page says it was published.
func (r *htmlReader) meta(t html.Token) {
	switch strings.ToLower(attribute(t, "property") + attribute(t, "name")) {
	case "article:published_time", "date", "dc.date", "datepublished", "article:modified_time":
		r.d.written(attribute(t, "content"))
	case "og:title":
		if r.d.Title == "" {
			r.d.Title = squeeze(attribute(t, "content"))
		}
	case "description":
		r.d.add("", squeeze(attribute(t, "content")))
	}
}

func attribute(t html.Token, name string) string {
	for i := range t.Attr {
		if t.Attr[i].Key == name {
			return t.Attr[i].Val
		}
	}
	return ""
}
