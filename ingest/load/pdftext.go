package load

import (
	"errors"
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxPDFText is the most bytes of text of one PDF.
const maxPDFText = 32 << 20

var errPage = errors.New("the page cannot be read")

// pageText says what a page shows, in the order in which it is drawn. A PDF places
// pieces of text and knows neither lines nor, often, spaces: both are found by where
// the pieces stand.
func pageText(p pdf.Page) (text string, err error) {
	defer func() {
		if recover() != nil { // the library panics on what it cannot read
			text, err = "", errPage
		}
	}()
	contents := p.V.Key("Contents")
	if contents.Kind() == pdf.Null {
		return "", nil
	}
	d := &drawing{page: p, fonts: map[string]*face{}}
	d.origin, d.scale = point{}, 1
	pdf.Interpret(contents, d.do)
	return d.text.String(), nil
}

type point struct{ x, y float64 }

// drawing follows the operators of a page.
type drawing struct {
	page  pdf.Page
	fonts map[string]*face
	text  strings.Builder
	saved []point // origins, by q

	origin point // by cm; only moves are followed
	font   *face
	size   float64
	line   point // where the line of text begins
	scale  float64
	lead   float64
	pen    point // where the last piece ended
	begun  bool
}

// face is a font with what was looked up of it.
type face struct {
	font   pdf.Font
	double bool // codes of two bytes
	texts  map[string]string
	widths map[byte]float64
}

func (d *drawing) do(stk *pdf.Stack, op string) {
	args := make([]pdf.Value, stk.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stk.Pop()
	}
	at := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	switch op {
	case "q":
		d.saved = append(d.saved, d.origin)
	case "Q":
		if n := len(d.saved) - 1; n >= 0 {
			d.origin, d.saved = d.saved[n], d.saved[:n]
		}
	case "cm":
		d.origin = point{d.origin.x + at(4), d.origin.y + at(5)}
	case "BT":
		d.line, d.scale = d.origin, 1
	case "Tf":
		if len(args) == 2 {
			d.font, d.size = d.face(args[0].Name()), at(1)
		}
	case "TL":
		d.lead = at(0)
	case "Td", "TD":
		if d.line = (point{d.line.x + at(0)*d.scale, d.line.y + at(1)*d.scale}); op == "TD" {
			d.lead = -at(1)
		}
	case "Tm":
		d.line, d.scale = point{d.origin.x + at(4), d.origin.y + at(5)}, math.Hypot(at(0), at(1))
	case "T*":
		d.next()
	case "'", "\"":
		d.next()
		if len(args) > 0 {
			d.show(args[len(args)-1].RawString())
		}
	case "Tj":
		if len(args) > 0 {
			d.show(args[0].RawString())
		}
	case "TJ":
		if len(args) > 0 {
			d.array(args[0])
		}
	}
}

func (d *drawing) next() { d.line.y -= max(d.lead, 1) * d.scale }

// array shows pieces with moves between them, in thousandths of the font's size.
func (d *drawing) array(v pdf.Value) {
	const space = -180
	for i := range v.Len() {
		switch x := v.Index(i); x.Kind() {
		case pdf.String:
			d.show(x.RawString())
		case pdf.Integer, pdf.Real:
			if n := x.Float64(); n < space && d.begun {
				d.separate(" ")
			}
			d.pen.x -= x.Float64() / 1000 * d.size * d.scale
			d.line.x = d.pen.x
		}
	}
}

// show writes a piece, on a new line or behind a space where it stands apart.
func (d *drawing) show(raw string) {
	if raw == "" {
		return
	}
	em := math.Abs(d.size * d.scale)
	switch {
	case !d.begun:
	case math.Abs(d.line.y-d.pen.y) > 2.2*em:
		d.separate("\n\n")
	case math.Abs(d.line.y-d.pen.y) > em/2:
		d.separate("\n")
	case d.line.x > d.pen.x+em/5, d.line.x < d.pen.x-em:
		d.separate(" ")
	}
	text, width := d.font.decode(raw)
	if d.text.WriteString(text); d.text.Len() > maxPDFText {
		panic(errPage)
	}
	d.begun = true
	d.line.x += width * d.size * d.scale
	d.pen = d.line
}

func (d *drawing) separate(with string) {
	if text := d.text.String(); !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\n") {
		d.text.WriteString(with)
	}
}

func (d *drawing) face(name string) *face {
	if f := d.fonts[name]; f != nil {
		return f
	}
	f := &face{font: d.page.Font(name), texts: map[string]string{}, widths: map[byte]float64{}}
	f.double = f.font.V.Key("Subtype").Name() == "Type0"
	d.fonts[name] = f
	return f
}

// decode returns the text of a piece and its width, in sizes of the font. Each code is
// looked up once.
func (f *face) decode(raw string) (string, float64) {
	const usual = 0.5
	if f == nil {
		return raw, usual * float64(len(raw))
	}
	var b strings.Builder
	width, n := 0.0, 1
	if f.double {
		n = 2
	}
	for len(raw) > 0 {
		code := raw[:min(n, len(raw))]
		raw = raw[len(code):]
		text, known := f.texts[code]
		if !known {
			text = strings.ToValidUTF8(f.font.Encoder().Decode(code), "\ufffd")
			f.texts[code] = text
		}
		b.WriteString(text)
		width += f.width(code)
	}
	return b.String(), width
}

func (f *face) width(code string) float64 {
	const usual = 0.5
	if f.double {
		return usual
	}
	w, known := f.widths[code[0]]
	if !known {
		if w = f.font.Width(int(code[0])) / 1000; !(w > 0 && w < 10) {
			w = usual
		}
		f.widths[code[0]] = w
	}
	return w
}
