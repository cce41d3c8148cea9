package jsonx

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string at its opening quote. A string without escapes shares the
// memory of the text.
func (p *parser) str() (string, *failure) {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return p.text[start : p.pos-1], nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.fail("a control character inside a string")
		}
		p.pos++
	}
	return "", p.fail("the text ends inside a string")
}

// escaped goes on with a string whose first escape stands at the position.
func (p *parser) escaped(start int) (string, *failure) {
	var b strings.Builder
	b.WriteString(p.text[start:p.pos])
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return b.String(), nil
		case c == '\\':
			if fail := p.escape(&b); fail != nil {
				return "", fail
			}
			continue
		case c < 0x20:
			return "", p.fail("a control character inside a string")
		default:
			b.WriteByte(c)
		}
		p.pos++
	}
	return "", p.fail("the text ends inside a string")
}

func (p *parser) escape(b *strings.Builder) *failure {
	if p.pos+1 >= len(p.text) {
		return p.fail("the text ends inside an escape")
	}
	switch c := p.text[p.pos+1]; c {
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		return p.unicode(b)
	default:
		return p.fail("no such escape")
	}
	p.pos += 2
	return nil
}

// unicode reads \uXXXX, and the second half of a surrogate pair with it. Half a
// pair is no character and is refused (C-44).
func (p *parser) unicode(b *strings.Builder) *failure {
	first, ok := p.hex(p.pos)
	if !ok {
		return p.fail("an escape without four hex digits")
	}
	if !utf16.IsSurrogate(first) {
		b.WriteRune(first)
		p.pos += 6
		return nil
	}
	second, ok := p.hex(p.pos + 6)
	r := utf16.DecodeRune(first, second)
	if !ok || r == utf8.RuneError {
		return p.fail("half of a surrogate pair")
	}
	b.WriteRune(r)
	p.pos += 12
	return nil
}

func (p *parser) hex(at int) (rune, bool) {
	if at+6 > len(p.text) || p.text[at] != '\\' || p.text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[at+2:at+6], 16, 32)
	if err != nil {
		return 0, false
	}
	return rune(n), true
}
