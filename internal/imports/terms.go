package imports

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// termKind is a kind of RDF term, as a bit.
type termKind uint8

const (
	iri termKind = 1 << iota
	blank
	literal
)

// term is one RDF term.
type term struct {
	kind     termKind
	text     string
	lang     string
	datatype string
}

// termParser reads the terms of one line of N-Triples or N-Quads (the W3C
// recommendations of 2014).
type termParser struct{ rest string }

func (p *termParser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t") }

// term reads the next term, which must be of one of the allowed kinds.
func (p *termParser) term(what string, allowed termKind) (term, error) {
	p.blanks()
	var got term
	var err error
	switch {
	case p.rest == "":
		return term{}, bad("%s is missing", what)
	case strings.HasPrefix(p.rest, "<<"):
		return term{}, bad("%s is a quoted triple (RDF-star), which is not read", what)
	case p.rest[0] == '<':
		got, err = p.iri(what)
	case strings.HasPrefix(p.rest, "_:"):
		got, err = p.blank(what)
	case p.rest[0] == '"':
		got, err = p.literal(what)
	default:
		return term{}, bad("%s is not a term: %s", what, excerpt([]byte(p.rest)))
	}
	if err == nil && got.kind&allowed == 0 {
		err = bad("%s must not be a %s", what, map[termKind]string{iri: "IRI", blank: "blank node", literal: "literal"}[got.kind])
	}
	return got, err
}

func (p *termParser) iri(what string) (term, error) {
	end := strings.IndexByte(p.rest, '>')
	if end < 0 {
		return term{}, bad("%s is an IRI without its closing >", what)
	}
	text, err := unescape(p.rest[1:end], false)
	if err != nil {
		return term{}, bad("%s: %v", what, err)
	}
	if strings.ContainsAny(text, " <\"{}|^`\\") || !strings.Contains(text, ":") {
		return term{}, bad("%s is not an absolute IRI: %s", what, excerpt([]byte(text)))
	}
	p.rest = p.rest[end+1:]
	return term{kind: iri, text: text}, nil
}

func (p *termParser) blank(what string) (term, error) {
	end := strings.IndexAny(p.rest, " \t<\"")
	if end < 0 {
		end = len(p.rest)
	}
	label := strings.TrimRight(p.rest[:end], ".")
	if label == "_:" || !utf8.ValidString(label) {
		return term{}, bad("%s is a blank node without a label", what)
	}
	p.rest = p.rest[len(label):]
	return term{kind: blank, text: label}, nil
}

func (p *termParser) literal(what string) (term, error) {
	end := 1
	for end < len(p.rest) && p.rest[end] != '"' {
		if p.rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.rest) {
		return term{}, bad("%s is a literal without its closing quote", what)
	}
	text, err := unescape(p.rest[1:end], true)
	if err != nil {
		return term{}, bad("%s: %v", what, err)
	}
	got := term{kind: literal, text: text}
	p.rest = p.rest[end+1:]
	switch {
	case strings.HasPrefix(p.rest, "^^<"):
		p.rest = p.rest[2:]
		datatype, err := p.iri(what + "'s datatype")
		got.datatype = datatype.text
		return got, err
	case strings.HasPrefix(p.rest, "@"):
		length := 1
		for length < len(p.rest) && (isAlnum(p.rest[length]) || p.rest[length] == '-') {
			length++
		}
		if length == 1 {
			return term{}, bad("%s has an @ without a language", what)
		}
		got.lang, p.rest = p.rest[1:length], p.rest[length:]
	}
	return got, nil
}

// end reads the optional graph, the full stop and a comment.
func (p *termParser) end() (*term, error) {
	p.blanks()
	var graph *term
	if p.rest != "" && p.rest[0] != '.' {
		got, err := p.term("the graph", iri|blank)
		if err != nil {
			return nil, err
		}
		graph = &got
		p.blanks()
	}
	after, found := strings.CutPrefix(p.rest, ".")
	if !found {
		return nil, bad("the full stop at the end is missing")
	}
	if after = strings.TrimSpace(after); after != "" && after[0] != '#' {
		return nil, bad("something follows the full stop: %s", excerpt([]byte(after)))
	}
	return graph, nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

var shortEscapes = map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f', '"': '"', '\'': '\'', '\\': '\\'}

// unescape resolves \uXXXX and \UXXXXXXXX, and in literals the short escapes.
func unescape(text string, short bool) (string, error) {
	if !utf8.ValidString(text) {
		return "", bad("it is not valid UTF-8")
	}
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		if i == len(text) {
			return "", bad("a backslash ends it")
		}
		digits := map[byte]int{'u': 4, 'U': 8}[text[i]]
		if digits == 0 {
			plain, known := shortEscapes[text[i]]
			if !known || !short {
				return "", bad("it has an unknown escape \\%c", text[i])
			}
			b.WriteByte(plain)
			continue
		}
		if i+digits > len(text)-1 {
			return "", bad("an escape breaks off")
		}
		code, err := strconv.ParseUint(text[i+1:i+1+digits], 16, 32)
		if err != nil || code > 0x10ffff || code >= 0xd800 && code < 0xe000 {
			return "", bad("\\%c%s is no character", text[i], text[i+1:i+1+digits])
		}
		b.WriteRune(rune(code))
		i += digits
	}
	return b.String(), nil
}
