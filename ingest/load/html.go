package load

import (
	"maps"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"abagraph/fact"
)

// maxDepth is how deep elements may be nested before the rest is passed over.
const maxDepth = 512

// html reads a page token by token: what it says, block by block, under its
// headings. Scripts, styles, navigation and what is hidden say nothing.
func (d *Document) html(text string) {
	r := &htmlReader{d: d, silent: silent}
	r.read(text)
	if unclosed[r.within()] { // it would have swallowed the rest of the page
		notes := d.Notes
		*d = Document{Written: fact.NoInstant, Notes: append(notes, "what <"+r.within().String()+"> and the like hold was read, too: one of them never ends")}
		r = &htmlReader{d: d, silent: mute}
		r.read(text)
	}
}

func (r *htmlReader) read(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() { // the text is whole: its end is the only error
		r.token(kind, z)
	}
	r.flush()
}

type htmlReader struct {
	d       *Document
	path    [6]string
	text    strings.Builder
	silent  map[atom.Atom]bool // elements of which nothing is read
	skipped []atom.Atom        // those that we are in
	deep    int                // how many elements of the kind of the outermost are open beyond maxDepth
	heading int                // 1 to 6 within a heading
	title   bool
	pre     int
}

// mute are elements whose content is no text for readers, and unclosed those around
// a page's text that a careless page does not close. Of both nothing is read; of the
// second kind all is where one of them never ends.
var (
	mute = map[atom.Atom]bool{
		atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true, atom.Canvas: true, atom.Object: true,
		atom.Math: true, atom.Select: true, atom.Textarea: true,
	}
	unclosed = map[atom.Atom]bool{atom.Nav: true, atom.Button: true, atom.Footer: true, atom.Dialog: true}
	silent   = both(mute, unclosed)
)

func both(a, b map[atom.Atom]bool) map[atom.Atom]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// hidden reports whether an element says itself that it is not to be seen.
func hidden(t html.Token) bool {
	for i := range t.Attr {
		switch a := &t.Attr[i]; a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// implied are elements that the next of their kind ends.
var implied = map[atom.Atom]bool{atom.P: true, atom.Li: true, atom.Tr: true, atom.Td: true, atom.Th: true, atom.Dt: true, atom.Dd: true}

// void are elements that have no end.
var void = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true, atom.Hr: true, atom.Img: true, atom.Input: true, atom.Link: true,
	atom.Meta: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// breaking are elements that end a block.
var breaking = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Blockquote: true, atom.Pre: true,
	atom.Header: true, atom.Main: true, atom.Aside: true, atom.Hr: true, atom.Dl: true, atom.Figure: true, atom.Body: true,
}

func (r *htmlReader) token(kind html.TokenType, z *html.Tokenizer) {
	switch kind {
	case html.TextToken:
		if len(r.skipped) == 0 {
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
	switch {
	case len(r.skipped) == 1 && a == r.skipped[0] && implied[a]:
		r.skipped = r.skipped[:0] // the next one ends it
	}
	switch {
	case len(r.skipped) > 0:
		if !closed && (r.silent[a] || a == r.skipped[0] && !void[a]) {
			r.skip(a)
		}
		return
	case r.silent[a], hidden(t) && !void[a]:
		if !closed {
			r.skip(a)
		}
		return
	}
	switch a {
	case atom.Title:
		r.title = true
	case atom.Meta:
		r.meta(t)
	case atom.Time:
		if published(t) {
			r.d.written(attribute(t, "datetime"))
		}
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
	if len(r.skipped) > 0 {
		r.unskip(a)
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

// skip goes into an element that says nothing.
func (r *htmlReader) skip(a atom.Atom) {
	if len(r.skipped) < maxDepth {
		r.skipped = append(r.skipped, a)
	} else if a == r.skipped[0] {
		r.deep++
	}
}

// unskip leaves the innermost such element of a name.
func (r *htmlReader) unskip(a atom.Atom) {
	if a == r.skipped[0] && r.deep > 0 {
		r.deep--
		return
	}
	for i := len(r.skipped) - 1; i >= 0; i-- {
		if r.skipped[i] == a {
			r.skipped = r.skipped[:i]
			return
		}
	}
}

// within is the outermost element that says nothing and is open.
func (r *htmlReader) within() atom.Atom {
	if len(r.skipped) == 0 {
		return 0
	}
	return r.skipped[0]
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

// published reports whether a time is that of the page: any other may be that of what
// it speaks of.
func published(t html.Token) bool {
	for i := range t.Attr {
		if t.Attr[i].Key == "pubdate" {
			return true
		}
	}
	name := strings.ToLower(attribute(t, "itemprop") + " " + attribute(t, "class"))
	for _, word := range [...]string{"publish", "datecreated", "entry-date"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
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
