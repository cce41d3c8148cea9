package mask

import (
	"strings"
	"unicode"
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
		start, end := max(done, localBefore(text, at)), domainAfter(text, at+1)
		if start < at && end > at+1 && !isScale(text[at+1:end]) {
			spans = append(spans, span{from: start, to: end})
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
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !isLocal(r) {
			break
		}
		start -= size
	}
	for start < at && text[start] == '.' { // a dot ends what stood before
		start++
	}
	return start
}

// isLocal knows the characters that addresses are really made of: a slash or an
// equals sign in front of one belongs to a link.
func isLocal(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_~", r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// domainAfter returns where the domain behind an @ ends; its beginning where it is
// none: it needs two labels, and a letter in the last.
func domainAfter(text string, from int) int {
	end, label, dots := from, from, 0
	letter := false
	good := from
	for end < len(text) && end-from < maxDomain {
		r, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case r == '.':
			if end == label {
				return good
			}
			dots++
			label, letter = end+1, false
		case r == '-' || r >= '0' && r <= '9':
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letter = true
		default:
			return good
		}
		end += size
		if r != '.' && r != '-' && dots > 0 && letter && end-label >= 2 {
			good = end
		}
	}
	return good
}
