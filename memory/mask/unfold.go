package mask

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// An address stays one when it is written for a link, for HTML or for a robot that
// shall not find it: u%40example.com, u&#64;example.com, u [at] example [dot] com, or
// with signs between its letters that nobody sees. Such a text is read as what it
// stands for, and what is found there is masked where it stands.

// plainText is a text as it is meant, and where each part of it stands as it is written.
type plainText struct {
	text   string
	pieces []piece
}

// piece is a part that is written otherwise than it is meant.
type piece struct {
	plain, at int32 // where it begins: meant, and written
	meant     uint8 // its bytes
	written   uint8
}

// dropped marks what stands for nothing.
const dropped rune = 0

// hints are the bytes with which something begins that may stand for something else.
var hints = func() (list [256]bool) {
	for _, c := range []byte{'%', '&', '\\', '(', '[', 0xc2, 0xcd, 0xe1, 0xe2, 0xef} {
		list[c] = true
	}
	return list
}()

// unfold reads a text as it is meant; false where that is as it is written.
func unfold(text string) (plainText, bool) {
	var p plainText
	var b strings.Builder
	done := 0 // text[:done] is in b
	for at := 0; at < len(text); {
		if !hints[text[at]] {
			at++
			continue
		}
		r, from, size := meaning(text, at)
		if size == 0 {
			at++
			continue
		}
		if p.pieces == nil {
			b.Grow(len(text))
			p.pieces = make([]piece, 0, 8+len(text)/32)
		}
		if len(p.pieces) == cap(p.pieces) {
			p.pieces = slices.Grow(p.pieces, len(p.pieces))
		}
		from = max(from, done)
		b.WriteString(text[done:from])
		plain := b.Len()
		switch {
		case r == dropped:
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		default:
			b.WriteRune(r)
		}
		at += size
		p.pieces = append(p.pieces, piece{plain: int32(plain), at: int32(from), meant: uint8(b.Len() - plain), written: uint8(at - from)})
		done = at
	}
	if p.pieces == nil {
		return p, false
	}
	b.WriteString(text[done:])
	p.text = b.String()
	return p, true
}

// written returns where a span of the text as it is meant stands as it is written.
func (p *plainText) written(s span) span {
	s.from, s.to, s.folded = p.place(s.from, true), p.place(s.to, false), true
	return s
}

// place returns where a place is written; what stands for nothing there is left out at
// both ends of a span.
func (p *plainText) place(plain int, begins bool) int {
	i := sort.Search(len(p.pieces), func(i int) bool {
		at := int(p.pieces[i].plain)
		return at > plain || at == plain && !begins
	}) - 1
	if i < 0 {
		return plain
	}
	one := &p.pieces[i]
	from, beyond := int(one.at), plain-int(one.plain)-int(one.meant)
	switch {
	case beyond >= 0:
		return from + int(one.written) + beyond
	case begins:
		return from
	}
	return from + int(one.written)
}

// meaning reads what stands at a place for something else: what it means, where it
// begins and how long it is from at on; 0 where it is just itself.
func meaning(text string, at int) (r rune, from, size int) {
	rest := text[at:]
	switch c := text[at]; {
	case c == '%':
		r, size = percent(rest)
	case c == '&':
		r, size = entity(rest)
	case c == '\\':
		r, size = escape(rest)
	case c < utf8.RuneSelf:
		return bracketed(text, at)
	case c == 0xc2: // of all that begin so only the soft hyphen is hidden
		if len(rest) > 1 && rest[1] == 0xad {
			return dropped, at, 2
		}
	default:
		r, size = utf8.DecodeRuneInString(rest)
		if r = simple(r); r < 0 {
			size = 0
		}
	}
	return r, at, size
}

// simple returns what a character stands for: the one of ASCII that it is a wide form
// of, nothing for those that nobody sees; less than 0 for itself.
func simple(r rune) rune {
	switch {
	case r == 0xad, r == 0x34f, r == 0x180e, r == 0xfeff, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069:
		return dropped
	case r == 0xfe6b:
		return '@'
	case r == 0xfe52:
		return '.'
	case r >= 0xff01 && r <= 0xff5e:
		if c := r - 0xfee0; parts[c]&(inLocal|inDomain) != 0 || c == '@' || c == '.' {
			return c
		}
	}
	return -1
}

// printable lets a decoded character through that can be part of what is looked for,
// or stand beside it.
func printable(r rune) (rune, bool) {
	if s := simple(r); s >= 0 {
		return s, true
	}
	return r, r >= ' ' && r < 0x7f || r == 0xa0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// number reads hexadecimal digits, just n of them.
func number(text string, n int) (rune, bool) {
	if len(text) < n {
		return 0, false
	}
	v := 0
	for i := range n {
		d := hexDigit(text[i])
		if d < 0 {
			return 0, false
		}
		v = v<<4 | d
	}
	return rune(v), true
}

// maxTwice is how often an escape may be escaped.
const maxTwice = 3

// percent reads %40, and %2540.
func percent(text string) (rune, int) {
	for size := 1; size <= 2*maxTwice; size += 2 {
		r, ok := number(text[size:], 2)
		if !ok {
			return 0, 0
		}
		if r == '%' && size < 2*maxTwice {
			if _, again := number(text[size+2:], 2); again {
				continue
			}
		}
		if r < ' ' || r > '~' {
			return 0, 0
		}
		return r, size + 2
	}
	return 0, 0
}

// escape reads \u0040 and \x40, and the ends of lines.
func escape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	digits := 0
	switch text[1] {
	case 'n', 'r', 't':
		return ' ', 2
	case 'u':
		digits = 4
	case 'x':
		digits = 2
	default:
		return 0, 0
	}
	if r, ok := number(text[2:], digits); ok {
		if r, ok := printable(r); ok {
			return r, 2 + digits
		}
	}
	return 0, 0
}

// named are the entities of HTML that addresses and numbers are written with.
var named = map[string]rune{
	"commat": '@', "period": '.', "plus": '+', "hyphen": '-', "dash": '-', "lowbar": '_', "UnderBar": '_', "lpar": '(', "rpar": ')', "nbsp": ' ', "shy": dropped, "zwj": dropped,
	"zwnj": dropped, "ZeroWidthSpace": dropped, "NoBreak": dropped, "lt": '<', "gt": '>', "quot": '"', "colon": ':', "sol": '/', "ensp": ' ', "emsp": ' ', "thinsp": ' ',
}

// entity reads &#64;, &#x40; and &commat;, and those whose & is one itself.
func entity(text string) (rune, int) {
	skip := 1
	for range maxTwice {
		if !strings.HasPrefix(text[skip:], "amp;") {
			break
		}
		skip += len("amp;")
	}
	r, size := entityBody(text[skip:])
	if size == 0 {
		return 0, 0
	}
	return r, skip + size
}

const maxEntity = 16

func entityBody(text string) (rune, int) {
	if !strings.HasPrefix(text, "#") {
		end := strings.IndexByte(text[:min(len(text), maxEntity)], ';')
		if end < 0 {
			return 0, 0
		}
		if r, ok := named[text[:end]]; ok {
			return r, end + 1
		}
		return 0, 0
	}
	at, base := 1, 10
	if at < len(text) && text[at]|0x20 == 'x' {
		at, base = 2, 16
	}
	v, begin := 0, at
	for at < len(text) && at < maxEntity {
		d := hexDigit(text[at])
		if d < 0 || d >= base {
			break
		}
		v = min(v*base+d, utf8.MaxRune+1)
		at++
	}
	r, ok := printable(rune(v))
	if at == begin || !ok {
		return 0, 0
	}
	if at < len(text) && text[at] == ';' {
		at++
	}
	return r, at
}

// bracketed reads [at], (at), [dot] and (dot) between words, with a space on both sides
// or on none.
func bracketed(text string, at int) (r rune, from, size int) {
	closes := byte(')')
	if text[at] == '[' {
		closes = ']'
	}
	word := text[at+1 : min(len(text), at+5)]
	switch {
	case len(word) >= 3 && word[2] == closes && strings.EqualFold(word[:2], "at"):
		r, size = '@', 4
	case len(word) == 4 && word[3] == closes && strings.EqualFold(word[:3], "dot"):
		r, size = '.', 5
	default:
		return 0, at, 0
	}
	from, end := at, at+size
	if from > 0 && end < len(text) && text[from-1] == ' ' && text[end] == ' ' {
		from, end = from-1, end+1
	}
	if from == 0 || end >= len(text) || !isPart(text[from-1]) || !isPart(text[end]) {
		return 0, at, 0
	}
	return r, from, end - at
}

// isPart reports whether a byte can be the first or the last of a part of an address.
func isPart(c byte) bool {
	return c >= utf8.RuneSelf || parts[c]&inDomain != 0 && c != '-'
}
