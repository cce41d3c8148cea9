package mask

import (
	"strings"
	"unicode/utf8"
)

// The digits in which numbers are written: ASCII, Arabic-Indic, Persian,
// Devanagari and full-width.
var zeros = [...]rune{'0', 0x660, 0x6f0, 0x966, 0xff10}

// leads are the first bytes of those that are not ASCII.
var leads = [...]byte{0xd9, 0xdb, 0xe0, 0xef}

// digitAt returns the digit at a place as ASCII, and its length in bytes; 0 where
// there is none.
func digitAt(text string, at int) (digit byte, size int) {
	if at >= len(text) {
		return 0, 0
	}
	if c := text[at]; c < utf8.RuneSelf {
		if c >= '0' && c <= '9' {
			return c, 1
		}
		return 0, 0
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	for _, zero := range zeros[1:] {
		if r >= zero && r <= zero+9 {
			return byte('0' + r - zero), size
		}
	}
	return 0, 0
}

// sep is what stands between two groups of digits.
type sep uint8

const (
	none   sep = iota
	space      // one space, of any width
	hyphen     // one hyphen
	dot        // one dot
	slash      // one slash
	opens      // a bracket that opens, with a space or hyphen or none
	closes     // a bracket that closes, with a space or hyphen or none
	other      // any other mixture of these
)

// maxSep is the most bytes between two groups.
const maxSep = 6

// separator reads what stands before the next group: its kind, whether a space is
// part of it, and where the group begins. ok is false where none follows.
func separator(text string, at int) (kind sep, spaced bool, end int, ok bool) {
	if at+1 < len(text) && text[at+1]-'0' <= 9 { // nearly always one sign of ASCII
		switch text[at] {
		case ' ':
			return space, true, at + 1, true
		case '-':
			return hyphen, false, at + 1, true
		case '.':
			return dot, false, at + 1, true
		}
	}
	var signs [3]byte
	n := 0
	for end = at; end < len(text) && end-at < maxSep && n < len(signs); n++ {
		sign, size := signAt(text, end)
		if size == 0 {
			break
		}
		signs[n] = sign
		spaced = spaced || sign == ' '
		end += size
	}
	if n == 0 {
		return none, false, at, false
	}
	if _, size := digitAt(text, end); size == 0 {
		return none, false, at, false
	}
	return kindOf(string(signs[:n])), spaced, end, true
}

// signAt reads one sign between groups; those that only look other are the same.
func signAt(text string, at int) (sign byte, size int) {
	c := text[at]
	if c < utf8.RuneSelf {
		if strings.IndexByte(" -./()", c) >= 0 {
			return c, 1
		}
		return 0, 0
	}
	switch r, size := utf8.DecodeRuneInString(text[at:]); r {
	case 0xa0, 0x2007, 0x2009, 0x202f, 0x3000:
		return ' ', size
	case 0x2010, 0x2011, 0xff0d:
		return '-', size
	}
	return 0, 0
}

func kindOf(signs string) sep {
	switch signs {
	case " ":
		return space
	case "-":
		return hyphen
	case ".":
		return dot
	case "/":
		return slash
	case "(", " (", "-(", ") (":
		return opens
	case ")", ") ", ")-":
		return closes
	}
	return other
}
