package mask

import (
	"strings"
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
	n      int // groups
	groups [maxGroups]group
	digits [maxGroups * maxDigits]byte // all of them as ASCII
	fours  fours                       // the run of fours that was met last
}

// Bounds of one chain. What goes on beyond them is a chain of its own.
const (
	maxGroups = 64
	maxDigits = 20 // of one group that are kept: more is nothing that is looked for
)

// numbers finds numbers that are personal.
func (m *Masker) numbers(text string, spans []span) []span {
	c := chain{text: text}
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
		} else if end := alone(text, at); end > 0 {
			at = end
			continue
		}
		next, digits := c.read(at)
		if at = next; digits >= fewest {
			spans = c.judge(m, spans)
		}
	}
	return spans
}

// alone returns where a few digits end that nothing follows which a chain could go on
// with; 0 where they may be more.
func alone(text string, at int) int {
	end := at + 1
	for end < len(text) && text[end]-'0' <= 9 {
		end++
	}
	if end-at >= fewest || end < len(text) && goesOn[text[end]] {
		return 0
	}
	return end
}

// goesOn are the bytes with which a separator, or a digit of another script, begins.
var goesOn = func() (list [256]bool) {
	for c := range list {
		list[c] = c >= utf8.RuneSelf || strings.IndexByte(" -./()", byte(c)) >= 0
	}
	return list
}()

// read gathers the groups of a chain, and returns where it ends, and how many digits it
// has.
func (c *chain) read(at int) (end, digits int) {
	c.n, c.fours = 0, fours{}
	kind, spaced := none, false
	for {
		g := &c.groups[c.n]
		*g = group{from: at, first: digits, sep: kind, spaced: spaced}
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
				c.digits[digits] = d
				digits++
				g.n++
			}
			at += size
		}
		g.to = at
		c.n++
		next, ok := 0, false
		if kind, spaced, next, ok = separator(c.text, at); !ok || c.n == maxGroups {
			return at, digits
		}
		at = next
	}
}

// judge adds what is personal in a chain. A number begins where the chain does, or
// after a space: what hangs on to something else is part of that.
func (c *chain) judge(m *Masker, spans []span) []span {
	whole := true // what comes now stands at the beginning of the chain, or after a number
	for i := 0; i < c.n; {
		s, n, ok := c.at(m, i, whole)
		if ok {
			spans = with(spans, s)
			i += n
			whole = true
			continue
		}
		whole = false
		for i++; i < c.n && !c.groups[i].spaced; i++ {
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
	if i+1 == c.n {
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
		return from, sign, class(q)&digit == 0
	case class(r)&(letter|digit) != 0, r == '_':
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
		return class(r)&(letter|digit) == 0
	}
	return false
}

// ends reports whether a number may end with group j: nothing hangs on to it.
func (c *chain) ends(j int) bool {
	if j+1 < c.n {
		return c.groups[j+1].spaced
	}
	rest := c.text[c.groups[j].to:]
	r, size := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(rest[size:])
	switch r {
	case '@', '_':
		return false
	case '-', '‐', '‑':
		return class(next)&(letter|digit) == 0
	case '.': // the name of a host goes on with a letter
		return class(next)&lower == 0 || next >= utf8.RuneSelf
	case ':': // a time does with a digit
		return class(next)&digit == 0
	case 'x', 'X': // an extension
		return class(next)&digit != 0
	}
	return class(r)&(letter|digit) == 0
}

// count returns how many digits n groups have, and which.
func (c *chain) count(i, n int) []byte {
	last := &c.groups[i+n-1]
	return c.digits[c.groups[i].first : last.first+last.n]
}

// isDate finds a date as ISO 8601 writes it, also in front of a time.
func (c *chain) isDate(i int) bool {
	if i+3 > c.n || !c.shape(i, 4, 2, 2) || !c.joined(i, 3, hyphen) {
		return false
	}
	from, to := c.groups[i].from, c.groups[i+2].to
	return to-from == len(isoDate) && (c.ends(i+2) || strings.HasPrefix(c.text[to:], "T"))
}

// shape reports whether the three groups from i on have so many digits.
func (c *chain) shape(i, first, second, third int) bool {
	if i+3 > c.n {
		return false
	}
	g := c.groups[i : i+3 : i+3]
	return g[0].n == first && g[1].n == second && g[2].n == third
}

// shaped reports whether the groups from i on have so many digits.
func (c *chain) shaped(i int, lengths ...int) bool {
	if i+len(lengths) > c.n {
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
