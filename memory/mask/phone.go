package mask

import "strings"

// phone finds a telephone number that begins with group i, and returns how many
// groups it has; 0 for none. The longest that may be one is: it ends where the
// numbers of its country do. whole tells that nothing of the chain stands before.
func (c *chain) phone(m *Masker, i int, sign byte, whole bool) int {
	switch first := &c.groups[i]; {
	case sign == '+':
		return c.longest(i, 15, func(n int) bool { return c.isInternational(i, n, c.count(i, n)) })
	case m.Regions != 0 && whole && c.isRegional(m.Regions, i):
		return c.n - i
	case c.looksLikeDate(i):
		return 0
	case c.digits[first.first] != '0':
	case first.n > 1 && c.digits[first.first+1] == '0':
		if !whole || first.n > 5 {
			return 0
		}
		return c.longest(i, 17, func(n int) bool {
			return n > 1 && !c.even(i, n) && c.isInternational(i, n, c.count(i, n)[2:])
		})
	case first.n >= 2 && first.n <= 5:
		if n := c.longest(i, 11, func(n int) bool { return len(c.count(i, n)) >= 10 && c.isTrunk(i, n, whole) }); n > 0 {
			return n
		}
	}
	if n := c.hyphened(i, sign); n > 0 {
		return n
	}
	for n := min(4, c.n-i); n >= 3; n-- {
		if c.isNorthAmerican(i, n) && c.ends(i+n-1) {
			return n
		}
	}
	return 0
}

// longest returns the most groups of at most so many digits that a form takes for a
// number, and that end there.
func (c *chain) longest(i, most int, form func(n int) bool) int {
	n, digits := 0, 0
	for i+n < c.n && digits+c.groups[i+n].n <= most {
		digits += c.groups[i+n].n
		n++
	}
	for ; n > 0 && digits >= fewest; n-- {
		if form(n) && c.ends(i+n-1) {
			return n
		}
		digits -= c.groups[i+n-1].n
	}
	return 0
}

// isInternational judges a number by the digits from its country code on. Without
// a separator it needs ten of them; a fraction and two of them are no number.
func (c *chain) isInternational(i, n int, digits []byte) bool {
	if len(digits) < fewest || digits[0] == '0' {
		return false
	}
	most := longest(digits)
	if n > 1 && c.groups[i+1].n == 1 && c.groups[i+1].sep == opens {
		most++ // +44 (0)20: the 0 in brackets is not dialled
	}
	if len(digits) > most {
		return false
	}
	if n == 1 || c.groups[i].n > 3 && len(digits) < 10 {
		return n == 1 && len(digits) >= 10
	}
	dots, hyphens := 0, 0
	for k := i + 1; k < i+n; k++ {
		switch c.groups[k].sep {
		case dot:
			dots++
		case hyphen:
			hyphens++
		case other, slash:
			return false
		}
	}
	return dots == 0 || hyphens == 0 && (n > 2 || len(digits) >= 11 && c.groups[i].n <= 3)
}

// isTrunk judges 10 or 11 digits that begin with one 0, in groups of which the first has
// 2 to 5 digits. Pairs alone are
// a number only if the whole chain is made of such: they may be any dump of bytes.
func (c *chain) isTrunk(i, n int, whole bool) bool {
	if n < 2 {
		return false
	}
	first, kinds, shortest := c.groups[i].n, [other + 1]int{}, 4
	for k := i + 1; k < i+n; k++ {
		kinds[c.groups[k].sep]++
		shortest = min(shortest, c.groups[k].n)
	}
	spaces, dots, slashes := kinds[space], kinds[dot], kinds[slash]
	switch {
	case kinds[other]+kinds[opens] > 0, n == 2 && first == c.groups[i+1].n:
		return false
	case dots > 0 && (kinds[hyphen] > 0 || n == 2 || shortest < 2):
		return false
	case slashes > 0 && (slashes > 1 || c.groups[i+1].n < 4): // a date
		return false
	case spaces+dots == n-1 && (!whole || n == 2 && first < 3):
		return false
	}
	return !(first == 2 && c.even(i, n)) || c.n%5 == 0 && !c.amongBytes()
}

// even reports whether groups are all pairs, or all fours, as in dumps and tables.
func (c *chain) even(i, n int) bool {
	size := c.groups[i].n
	for k := i; k < i+n; k++ {
		if c.groups[k].n != size {
			return false
		}
	}
	return size == 2 || size == 4
}

// amongBytes reports whether a byte in hexadecimal, such as 3d or ff, stands beside
// the chain: then its pairs are bytes too.
func (c *chain) amongBytes() bool {
	from, to := c.groups[0].from, c.groups[c.n-1].to
	before, after := c.text[:from], c.text[to:]
	if n := len(before); n >= 3 && before[n-1] == ' ' && isByte(before[n-3:n-1]) && (n == 3 || before[n-4] == ' ') {
		return true
	}
	return len(after) >= 3 && after[0] == ' ' && isByte(after[1:3]) && (len(after) == 3 || after[3] == ' ')
}

func isByte(two string) bool {
	const hex = "0123456789abcdefABCDEF"
	if strings.IndexByte(hex, two[0]) < 0 || strings.IndexByte(hex, two[1]) < 0 {
		return false
	}
	return two[0] <= '9' || two[1] <= '9' || two[0] == two[1]
}

// isNorthAmerican reports whether groups are 3-3-4, with a 1 in front or without,
// and with a sign between them that is more than a space.
func (c *chain) isNorthAmerican(i, n int) bool {
	area := i
	if n == 4 {
		if area++; c.groups[i].n != 1 || c.digits[c.groups[i].first] != '1' {
			return false
		}
	}
	if !c.shape(area, 3, 3, 4) || c.digits[c.groups[area].first] < '2' || c.digits[c.groups[area+1].first] < '2' {
		return false
	}
	signs, dots, others := 0, 0, 0
	for k := i + 1; k < i+n; k++ {
		switch c.groups[k].sep {
		case dot:
			dots++
		case hyphen:
			signs, others = signs+1, others+1
		case closes:
			signs++
		case space:
			others++
		case other, slash:
			return false
		}
	}
	if dots > 0 && others > 0 { // 252.227-7013 is no number of a person
		return false
	}
	return signs+dots > 0
}

// hyphened finds 10 to 15 digits that hang together by hyphens or have an area code
// in brackets, as the general rule has it. A number that begins with a year or a
// long run, and that of a book, are other things.
func (c *chain) hyphened(i int, sign byte) int {
	if i+1 == c.n || c.groups[i].n > 8 || isYear(c.count(i, 1)) || isDay(c.count(i, 1)) {
		return 0
	}
	next := c.groups[i+1].sep
	body, spaces := i+1, false // the first group that hyphens, or spaces, stand in front of
	switch {
	case next == hyphen:
	case sign == '(' && next == closes:
		body, spaces = i+2, true
	case next == opens && c.groups[i].n <= 2 && i+2 < c.n && c.groups[i+2].sep == closes && !isYear(c.count(i+1, 1)):
		body, spaces = i+3, true
	default:
		return 0
	}
	for body < c.n && (c.groups[body].sep == hyphen || spaces && c.groups[body].sep == space) {
		body++
	}
	return c.longest(i, 15, func(n int) bool {
		digits := c.count(i, n)
		return n > 1 && n <= 5 && i+n <= body && len(digits) >= 10 && !isBook(c.groups[i+n-1].n, n, digits)
	})
}

func isYear(digits []byte) bool {
	return len(digits) == 4 && (digits[0] == '1' && digits[1] == '9' || digits[0] == '2' && digits[1] == '0')
}

// isDay knows 20240315 and 202403151030.
func isDay(digits []byte) bool {
	return len(digits) >= 8 && isYear(digits[:4]) && digits[4] <= '1' && digits[6] <= '3'
}

// isBook knows the numbers of books: thirteen digits from 978 or 979 on, or ten in
// four groups with a check digit.
func isBook(last, groups int, digits []byte) bool {
	if len(digits) == 13 {
		return digits[0] == '9' && digits[1] == '7' && digits[2] >= '8'
	}
	if len(digits) != 10 || groups != 4 || last != 1 {
		return false
	}
	sum := 0
	for k, d := range digits {
		sum += (10 - k) * int(d-'0')
	}
	return sum%11 == 0
}

// looksLikeDate reports whether groups begin as a date does: 2-2-4 or 4-2-2.
func (c *chain) looksLikeDate(i int) bool {
	switch n := c.groups[i].n; {
	case n == 2:
		return c.shape(i, 2, 2, 4) && isYear(c.count(i+2, 1))
	case n == 4 && i+1 < c.n && c.groups[i+1].n <= 2:
		return isYear(c.count(i, 1))
	}
	return false
}
