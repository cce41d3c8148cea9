package jsonx

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"abagraph/fact"
)

// Limits of a text (C-44).
const (
	// MaxDepth is how deep arrays and objects may nest.
	MaxDepth = 64
	// MaxValues is how many values one text may hold, which bounds the memory
	// that a small text could ask for.
	MaxValues = 1 << 20
)

// usualValues is how many values there is room for at first: the fields of one fact.
const usualValues = 8

// hashedFields is the number of fields above which names are compared through a
// map, so that an object of many fields costs no square.
const hashedFields = 24

// Parse reads one JSON text. The error is a fact.Error: SchemaInvalid, or
// TooLarge above MaxValues; its Field is the path of the value at fault.
func Parse(data []byte) (Value, error) {
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		data = data[3:]
	}
	if !utf8.Valid(data) {
		return Value{}, fact.Errorf(fact.SchemaInvalid, "malformed JSON: the text is not valid UTF-8")
	}
	p := parser{text: string(data)}
	p.skipSpace()
	if p.pos == len(p.text) {
		return Value{}, fact.Errorf(fact.SchemaInvalid, "malformed JSON: the text is empty")
	}
	v, fail := p.value(0)
	if fail == nil {
		p.skipSpace()
		if p.pos < len(p.text) {
			fail = p.fail("something follows the value")
		}
	}
	if fail != nil {
		return Value{}, fail.asError()
	}
	return v, nil
}

// failure is a problem on its way out of the nested values: each level adds its
// part of the path.
type failure struct {
	code    fact.Code
	problem string
	offset  int
	path    []string // innermost first
}

func (f *failure) under(part string) *failure {
	f.path = append(f.path, part)
	return f
}

func (f *failure) asError() *fact.Error {
	var path strings.Builder
	for i := len(f.path) - 1; i >= 0; i-- {
		part := f.path[i]
		if path.Len() > 0 && part[0] != '[' {
			path.WriteByte('.')
		}
		path.WriteString(part)
	}
	message := "malformed JSON: " + f.problem + " at byte " + strconv.Itoa(f.offset)
	if path.Len() > 0 {
		message = "malformed JSON in " + path.String() + ": " + f.problem + " at byte " + strconv.Itoa(f.offset)
	}
	return &fact.Error{Code: f.code, Message: message, Field: path.String()}
}

type parser struct {
	text  string
	pos   int
	count int
	stack []Value // the finished kids of the values that are still open
}

func (p *parser) fail(problem string) *failure {
	return &failure{code: fact.SchemaInvalid, problem: problem, offset: p.pos}
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, *failure) {
	p.count++
	if p.count > MaxValues {
		f := p.fail("more than " + strconv.Itoa(MaxValues) + " values")
		f.code = fact.TooLarge
		return Value{}, f
	}
	if p.pos >= len(p.text) {
		return Value{}, p.fail("the text ends too early")
	}
	start := p.pos
	switch c := p.text[p.pos]; {
	case c == '"':
		text, fail := p.str()
		if fail != nil {
			return Value{}, fail
		}
		return Value{Kind: String, Raw: p.text[start:p.pos], Text: text}, nil
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return Value{}, p.fail("nesting deeper than " + strconv.Itoa(MaxDepth))
		}
		if c == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *parser) word() (Value, *failure) {
	rest := p.text[p.pos:]
	for _, w := range [...]Value{{Kind: Null, Raw: "null"}, {Kind: Bool, Bool: true, Raw: "true"}, {Kind: Bool, Raw: "false"}} {
		if strings.HasPrefix(rest, w.Raw) {
			p.pos += len(w.Raw)
			return w, nil
		}
	}
	return Value{}, p.fail("no value begins with " + strconv.QuoteRune(firstRune(rest)))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func (p *parser) number() (Value, *failure) {
	start := p.pos
	if p.text[p.pos] == '-' {
		p.pos++
	}
	whole := p.digits()
	if whole == 0 {
		return Value{}, p.fail("a number without digits")
	}
	if whole > 1 && p.text[p.pos-whole] == '0' {
		return Value{}, p.fail("a number with a leading zero")
	}
	if p.pos < len(p.text) && p.text[p.pos] == '.' {
		p.pos++
		if p.digits() == 0 {
			return Value{}, p.fail("a number without digits after its point")
		}
	}
	if p.pos < len(p.text) && p.text[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '-') {
			p.pos++
		}
		if p.digits() == 0 {
			return Value{}, p.fail("a number without digits in its exponent")
		}
	}
	return Value{Kind: Number, Raw: p.text[start:p.pos]}, nil
}

func (p *parser) digits() int {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}

func (p *parser) array(depth int) (Value, *failure) {
	start, mark := p.pos, len(p.stack)
	p.pos++
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == ']' {
		p.pos++
		return Value{Kind: Array, Raw: p.text[start:p.pos]}, nil
	}
	for i := 0; ; i++ {
		p.skipSpace()
		v, fail := p.value(depth + 1)
		if fail != nil {
			return Value{}, fail.under("[" + strconv.Itoa(i) + "]")
		}
		p.push(v)
		more, fail := p.more(']', "an array")
		if fail != nil {
			return Value{}, fail
		}
		if !more {
			return Value{Kind: Array, Kids: p.pop(mark), Raw: p.text[start:p.pos]}, nil
		}
	}
}

func (p *parser) object(depth int) (Value, *failure) {
	start, mark := p.pos, len(p.stack)
	p.pos++
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == '}' {
		p.pos++
		return Value{Kind: Object, Raw: p.text[start:p.pos]}, nil
	}
	var seen map[string]struct{}
	for {
		p.skipSpace()
		name, fail := p.name()
		if fail != nil {
			return Value{}, fail
		}
		if seen, fail = p.unique(seen, mark, name); fail != nil {
			return Value{}, fail
		}
		v, fail := p.value(depth + 1)
		if fail != nil {
			return Value{}, fail.under(shorten(name))
		}
		v.Name = name
		p.push(v)
		more, fail := p.more('}', "an object")
		if fail != nil {
			return Value{}, fail
		}
		if !more {
			return Value{Kind: Object, Kids: p.pop(mark), Raw: p.text[start:p.pos]}, nil
		}
	}
}

// name reads a field's name, its colon, and the space around it.
func (p *parser) name() (string, *failure) {
	if p.pos >= len(p.text) || p.text[p.pos] != '"' {
		return "", p.fail("a field's name is missing")
	}
	name, fail := p.str()
	if fail != nil {
		return "", fail
	}
	p.skipSpace()
	if p.pos >= len(p.text) || p.text[p.pos] != ':' {
		return "", p.fail("a colon is missing after the field's name")
	}
	p.pos++
	p.skipSpace()
	return name, nil
}

// unique refuses a name that the object already has (C-44).
func (p *parser) unique(seen map[string]struct{}, mark int, name string) (map[string]struct{}, *failure) {
	fields := p.stack[mark:]
	if len(fields) < hashedFields {
		for i := range fields {
			if fields[i].Name == name {
				return seen, p.fail("the field occurs twice").under(shorten(name))
			}
		}
		return seen, nil
	}
	if seen == nil {
		seen = make(map[string]struct{}, 2*hashedFields)
		for i := range fields {
			seen[fields[i].Name] = struct{}{}
		}
	}
	if _, twice := seen[name]; twice {
		return seen, p.fail("the field occurs twice").under(shorten(name))
	}
	seen[name] = struct{}{}
	return seen, nil
}

// more reads what separates or ends the members of an array or object.
func (p *parser) more(end byte, what string) (bool, *failure) {
	p.skipSpace()
	if p.pos >= len(p.text) {
		return false, p.fail("the text ends inside " + what)
	}
	switch p.text[p.pos] {
	case ',':
		p.pos++
		return true, nil
	case end:
		p.pos++
		return false, nil
	}
	return false, p.fail("a comma or the end of " + what + " is missing")
}

// push puts a finished value on the stack.
func (p *parser) push(v Value) {
	if p.stack == nil {
		p.stack = make([]Value, 0, usualValues)
	}
	p.stack = append(p.stack, v)
}

// pop takes the finished kids of one value off the stack. A small stack that holds nothing
// else is given away itself.
func (p *parser) pop(mark int) []Value {
	if mark == 0 && cap(p.stack) == usualValues {
		kids := slices.Clip(p.stack)
		p.stack = nil
		return kids
	}
	kids := make([]Value, len(p.stack)-mark)
	copy(kids, p.stack[mark:])
	clear(p.stack[mark:])
	p.stack = p.stack[:mark]
	return kids
}

// shorten bounds a name that is quoted back in a message.
func shorten(name string) string {
	const most = 64
	if name == "" {
		return `""`
	}
	if len(name) <= most {
		return name
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}
