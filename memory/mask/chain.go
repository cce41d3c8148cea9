package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// group is a run of digits.
type group struct {
	from, to int
	first, n int  // its digits within those of the chain
	sep      sep  // what stands in front of it
	spaced   bool // a space is part of that
}

// chain is groups of digits with short separators between them.
type chain struct {
	text   string
	groups []group
	digits []byte // all of them as ASCII
}

// Bounds of one chain. What goes on beyond them is a chain of its own.
const (
	maxGroups = 64
	maxDigits = 20 // of one group that are kept: more is nothing that is looked for
)

// numbers finds numbers that are personal.
func (m *Masker) numbers(text string, spans []span) []span {
	var groups [16]group
	var digits [64]byte
	c := chain{text: text, groups: groups[:0], digits: digits[:0]}
	for at := 0; at < len(text); {
		if marks[text[at]] != 1 {
			at++
			continue
		}
		if text[at] >= utf8.RuneSelf {
			if _, size := digitAt(text, at); size == 0 {
				at++
				continue
			}
		}
		at = c.read(at)
		if len(c.digits) >= fewest {
			spans = c.judge(m, spans)
		}
	}
	return spans
}

// read gathers the groups of a chain, and returns where it ends.
func (c *chain) read(at int) int {
	c.groups, c.digits = c.groups[:0], c.digits[:0]
	kind, spaced := none, false
	for {
		g := group{from: at, first: len(c.digits), sep: kind, spaced: spaced}
		for at < len(c.text) {
			d, size := c.text[at], 1
			if d-'0' > 9 {
				if d < utf8.RuneSelf {
					break
				}
				if d, size = digitAt(c.text, at); size == 0 {
					break
				}
			}
			if g.n < maxDigits {
				c.digits = append(c.digits, d)
				g.n++
			}
			at += size
		}
		g.to = at
		c.groups = append(c.groups, g)
		next, ok := 0, false
		if kind, spaced, next, ok = separator(c.text, at); !ok || len(c.groups) == maxGroups {
			return at
		}
		at = next
	}
}

// judge adds what is personal in a chain. A number begins where the chain does, or
// after a space: what hangs on to something else is part of that.
func (c *chain) judge(m *Masker, spans []span) []span {
	whole := true // what comes now stands at the beginning of the chain, or after a number
	for i := 0; i < len(c.groups); {
		s, n, ok := c.at(m, i, whole)
		if ok {
			spans = append(spans, s)
			i += n
			whole = true
			continue
		}
		whole = false
		for i++; i < len(c.groups) && !c.groups[i].spaced; i++ {
		}
	}
	return spans
}

// at looks for a number that begins with group i: the most specific kind first.
func (c *chain) at(m *Masker, i int, whole bool) (s span, n int, ok bool) {
	from, sign, ok := c.opening(i)
	if !ok {
		return span{}, 0, false
	}
	if sign == 0 && c.aside(m, i) {
		return span{}, 0, false
	}
	first := c.groups[i].from
	if m.Mode == ShiftDate && c.isDate(i) {
		return span{from: first, to: c.groups[i+2].to, kind: date}, 3, true
	}
	if sign != '+' {
		if n := c.ssn(i); n > 0 {
			return span{from: first, to: c.groups[i+n-1].to, kind: SSN}, n, true
		}
		if n := c.card(i); n > 0 {
			return span{from: first, to: c.groups[i+n-1].to, kind: Card}, n, true
		}
	}
	n = c.phone(m, i, sign, whole)
	if n == 0 {
		return span{}, 0, false
	}
	end := c.groups[i+n-1].to
	if number := c.text[from:end]; number[0] == '(' && strings.Count(number, "(") > strings.Count(number, ")") {
		from++ // it opens a remark, not the number
	}
	return span{from: from, to: end, kind: Phone}, n, true
}

// aside reports that nothing that is looked for begins with one or two digits before
// a space, as nearly all counts and times do.
func (c *chain) aside(m *Masker, i int) bool {
	g := &c.groups[i]
	if i+1 == len(c.groups) {
		return g.n < fewest
	}
	if g.n > 2 || c.groups[i+1].sep != space || m.Regions != 0 {
		return false
	}
	switch c.digits[g.first] {
	case '0':
		return g.n == 1
	case '1':
		return g.n == 2 || c.groups[i+1].n != 3
	}
	return true
}

// opening returns where a number begins that may have a sign in front of its
// digits, and the sign: '+', '(' or 0. ok is false where the digits hang on to what
// stands before.
func (c *chain) opening(i int) (from int, sign byte, ok bool) {
	from = c.groups[i].from
	if i > 0 { // a space is part of what stands before
		if c.text[from-1] == '(' {
			return from - 1, '(', true
		}
		return from, 0, true
	}
	before := c.text[:from]
	if strings.HasSuffix(before, "+") {
		sign, from = '+', from-1
	}
	if strings.HasSuffix(c.text[:from], "(") {
		from--
		if sign == 0 {
			sign = '('
		}
	}
	before = c.text[:from]
	if sign == 0 && strings.HasSuffix(before, ":") && hasScheme(before) {
		return from, '+', true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case from == 0:
		return from, sign, true
	case r == ':': // a number after another one and a colon is a time, or a port
		q, _ := utf8.DecodeLastRuneInString(before[:len(before)-1])
		return from, sign, !unicode.IsDigit(q)
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return from, sign, false
	case sign == 0 && strings.ContainsRune(`-.#/\@‐‑`, r):
		return from, sign, false
	}
	return from, sign, true
}

// hasScheme reports whether a text ends with the scheme of a telephone's address.
func hasScheme(before string) bool {
	for _, scheme := range [...]string{"tel:", "sms:", "callto:"} {
		if !strings.HasSuffix(before, scheme) {
			continue
		}
		r, _ := utf8.DecodeLastRuneInString(before[:len(before)-len(scheme)])
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return false
}

// ends reports whether a number may end with group j: nothing hangs on to it.
func (c *chain) ends(j int) bool {
	if j+1 < len(c.groups) {
		return c.groups[j+1].spaced
	}
	rest := c.text[c.groups[j].to:]
	r, size := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(rest[size:])
	switch r {
	case '@', '_':
		return false
	case '-', '‐', '‑':
		return !unicode.IsLetter(next) && !unicode.IsDigit(next)
	case '.': // the name of a host goes on with a letter
		return !unicode.IsLower(next) || next >= utf8.RuneSelf
	case ':': // a time does with a digit
		return !unicode.IsDigit(next)
	case 'x', 'X': // an extension
		return unicode.IsDigit(next)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// count returns how many digits n groups have, and which.
func (c *chain) count(i, n int) []byte {
	last := &c.groups[i+n-1]
	return c.digits[c.groups[i].first : last.first+last.n]
}

// isDate finds a date as ISO 8601 writes it, also in front of a time.
func (c *chain) isDate(i int) bool {
	if i+3 > len(c.groups) || !c.shape(i, 4, 2, 2) || !c.joined(i, 3, hyphen) {
		return false
	}
	from, to := c.groups[i].from, c.groups[i+2].to
	return to-from == len(isoDate) && (c.ends(i+2) || strings.HasPrefix(c.text[to:], "T"))
}

// shape reports whether the groups from i on have so many digits.
func (c *chain) shape(i int, lengths ...int) bool {
	if i+len(lengths) > len(c.groups) {
		return false
	}
	for k, n := range lengths {
		if c.groups[i+k].n != n {
			return false
		}
	}
	return true
}

// joined reports whether one kind of separator stands between n groups.
func (c *chain) joined(i, n int, kind sep) bool {
	for k := i + 1; k < i+n; k++ {
		if c.groups[k].sep != kind {
			return false
		}
	}
	return true
}

// ssn finds nine digits as 3-2-4 with hyphens.
func (c *chain) ssn(i int) int {
	if c.shape(i, 3, 2, 4) && c.joined(i, 3, hyphen) && c.ends(i+2) {
		return 3
	}
	return 0
}
