package mask

import (
	"strings"
	"unicode/utf8"
)

// The longest parts of an address, in bytes; what is longer is none. They bound
// the work for each @.
const (
	maxLocal  = 128
	maxDomain = 253
)

// emails finds addresses: a local part, an @, and a domain with a dot.
func emails(text string, spans []span) []span {
	for from, done := 0, 0; ; {
		at := strings.IndexByte(text[from:], '@')
		if at < 0 {
			return spans
		}
		at += from
		from = at + 1
		start := max(done, localBefore(text, at))
		if start >= at {
			continue
		}
		if end := domainAfter(text, at+1); end > at+1 && !isScale(text[at+1:end]) {
			spans = with(spans, span{from: start, to: end})
			from, done = end, end
		}
	}
}

// isScale knows what stands behind the @ in the name of a picture: 2x.png.
func isScale(domain string) bool {
	return len(domain) > 3 && domain[0] >= '1' && domain[0] <= '9' && domain[1:3] == "x." && !strings.Contains(domain[3:], ".")
}

// localBefore returns where the local part in front of an @ begins; the @ itself
// where there is none.
func localBefore(text string, at int) int {
	if at > 0 && text[at-1] == '"' {
		low := max(0, at-maxLocal)
		if open := strings.LastIndexByte(text[low:at-1], '"'); open >= 0 {
			return low + open
		}
	}
	start := at
	for start > 0 && at-start < maxLocal {
		c := text[start-1]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeLastRuneInString(text[:start])
			if !isWord(r) {
				break
			}
			start -= size
			continue
		}
		if parts[c]&inLocal == 0 {
			break
		}
		start--
	}
	for start < at && text[start] == '.' { // a dot ends what stood before
		start++
	}
	return start
}

// isWord knows what is part of an address and is not ASCII.
func isWord(r rune) bool {
	return r != utf8.RuneError && class(r)&(letter|digit|mark) != 0
}

// What the ASCII characters may be part of. A local part has the characters that
// addresses are really made of: a slash or an equals sign in front of one belongs to
// a link.
const (
	inLocal uint8 = 1 << iota
	inDomain
	isLetter
)

var parts = func() (list [utf8.RuneSelf]uint8) {
	for c := range list {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			list[c] = inLocal | inDomain | isLetter
		case c >= '0' && c <= '9' || c == '-':
			list[c] = inLocal | inDomain
		case strings.IndexByte("!#$%&'*+._~^", byte(c)) >= 0:
			list[c] = inLocal
		}
	}
	return list
}()

// domainAfter returns where the domain behind an @ ends; its beginning where it is
// none: it needs two labels, and a letter in the last.
func domainAfter(text string, from int) int {
	end, label, dots := from, from, 0
	named := false // the label has a letter
	good := from
	for end < len(text) && end-from < maxDomain {
		c := text[end]
		switch {
		case c == '.':
			if end == label {
				return good
			}
			end++
			dots++
			label, named = end, false
			continue
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[end:])
			if class(r)&(letter|mark) == 0 {
				return good
			}
			named = true
			end += size
		case parts[c]&inDomain == 0:
			return good
		default:
			named = named || parts[c]&isLetter != 0
			end++
		}
		if c != '-' && dots > 0 && named && end-label >= 2 {
			good = end
		}
	}
	return good
}
