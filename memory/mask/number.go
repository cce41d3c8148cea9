package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// group is a run of digits within a number.
type group struct {
	from, to int
	digits   string // as ASCII
	sep      string // what stands in front of it, since the group before
}

// maxGroups bounds how many groups are looked at as one number.
const maxGroups = 24

// numbers finds numbers that are personal.
func numbers(text string, spans []span, dates bool) []span {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if _, ok := digit(r); !ok {
			at += size
			continue
		}
		list := groupsFrom(text, at)
		last := list[len(list)-1].to
		if s, ok := personal(text, list, dates); ok {
			spans = append(spans, s)
			last = s.to
		} else if len(list) > 1 {
			last = list[0].to // what follows may be a number of its own
			spans, last = suffix(text, list, spans, dates, last)
		}
		at = last
	}
	return spans
}

// suffix looks for a number among the later groups, where the first ones are
// something else.
func suffix(text string, list []group, spans []span, dates bool, last int) ([]span, int) {
	for i := 1; i < len(list); i++ {
		if !strings.ContainsAny(list[i].sep, " \t\n") {
			continue // it hangs together with what stands before
		}
		if s, ok := personal(text, list[i:], dates); ok {
			return append(spans, s), s.to
		}
	}
	return spans, list[len(list)-1].to
}

// groupsFrom gathers groups of digits with short separators between them.
func groupsFrom(text string, at int) []group {
	var list []group
	sep := ""
	for len(list) < maxGroups {
		g := group{from: at, sep: sep}
		for at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			d, ok := digit(r)
			if !ok {
				break
			}
			g.digits += string(d)
			at += size
			if len(g.digits) > 64 {
				break
			}
		}
		g.to = at
		list = append(list, g)
		next := at
		for next < len(text) && next-at < 3 && strings.IndexByte(" -./()", text[next]) >= 0 {
			next++
		}
		if next == at || next == len(text) {
			return list
		}
		r, _ := utf8.DecodeRuneInString(text[next:])
		if _, ok := digit(r); !ok {
			return list
		}
		sep, at = text[at:next], next
	}
	return list
}

// digit returns a digit of the scripts in which numbers are written, as ASCII.
func digit(r rune) (byte, bool) {
	for _, zero := range [...]rune{'0', 0x660, 0x6f0, 0x966, 0xff10} {
		if r >= zero && r <= zero+9 {
			return byte('0' + r - zero), true
		}
	}
	return 0, false
}

// personal judges the number that begins with the first group: the most specific
// kind first.
func personal(text string, list []group, dates bool) (span, bool) {
	first := list[0].from
	before, _ := utf8.DecodeLastRuneInString(text[:first])
	switch {
	case first > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune("-._#/\\", before) && !strings.HasSuffix(text[:first], "tel:")):
		return span{}, false
	}
	if dates {
		if s, ok := dateSpan(text, list); ok {
			return s, true
		}
	}
	for _, find := range [...]func(string, []group) (int, bool){ssn, card} {
		if n, ok := find(text, list); ok && ends(text, list, n) {
			return span{from: first, to: list[n-1].to}, true
		}
	}
	return phone(text, list)
}

// ends reports whether a number of n groups ends there: no letter follows, and no
// further group hangs on to it.
func ends(text string, list []group, n int) bool {
	if n < len(list) {
		return list[n].sep == " "
	}
	r, _ := utf8.DecodeRuneInString(text[list[n-1].to:])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '@'
}

func join(list []group) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(list[i].digits)
	}
	return b.String()
}

// dateSpan finds a date as ISO 8601 writes it.
func dateSpan(text string, list []group) (span, bool) {
	if len(list) < 3 || len(list[0].digits) != 4 || len(list[1].digits) != 2 || len(list[2].digits) != 2 || list[1].sep != "-" || list[2].sep != "-" {
		return span{}, false
	}
	if !ends(text, list, 3) && !strings.HasPrefix(text[list[2].to:], "T") || list[2].to-list[0].from != len(isoDate) {
		return span{}, false
	}
	return span{from: list[0].from, to: list[2].to, date: true}, true
}

// ssn finds nine digits as 3-2-4 with hyphens.
func ssn(_ string, list []group) (int, bool) {
	ok := len(list) >= 3 && len(list[0].digits) == 3 && len(list[1].digits) == 2 && len(list[2].digits) == 4 && list[1].sep == "-" && list[2].sep == "-"
	return 3, ok
}

// card finds 13 to 19 digits of a card scheme that pass the check digit, in one
// run or in groups of at least three with single spaces or hyphens.
func card(_ string, list []group) (int, bool) {
	digits := ""
	for n := 0; n < len(list) && len(digits) < 19; n++ {
		if n > 0 && list[n].sep != " " && list[n].sep != "-" {
			return 0, false
		}
		if len(list) > 1 && len(list[n].digits) < 3 {
			return 0, false
		}
		digits += list[n].digits
		if isCard(digits) && (n+1 == len(list) || len(digits) >= 15) {
			return n + 1, true
		}
	}
	return 0, false
}
