package mask

import "unicode/utf8"

// The digits in which numbers are written are those of ASCII, and Arabic-Indic,
// Persian, Devanagari and full-width ones.

// leads are the first bytes of digits that are not ASCII.
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
	rest := text[at:]
	switch { // byte by byte, since it is asked of each character of some scripts
	case len(rest) >= 2 && rest[0] == 0xd9 && rest[1] >= 0xa0 && rest[1] <= 0xa9:
		return '0' + rest[1] - 0xa0, 2
	case len(rest) >= 2 && rest[0] == 0xdb && rest[1] >= 0xb0 && rest[1] <= 0xb9:
		return '0' + rest[1] - 0xb0, 2
	case len(rest) >= 3 && rest[0] == 0xe0 && rest[1] == 0xa5 && rest[2] >= 0xa6 && rest[2] <= 0xaf:
		return '0' + rest[2] - 0xa6, 3
	case len(rest) >= 3 && rest[0] == 0xef && rest[1] == 0xbc && rest[2] >= 0x90 && rest[2] <= 0x99:
		return '0' + rest[2] - 0x90, 3
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
	signs := uint32(0) // the last one in the lowest byte
	for end = at; end < len(text) && end-at < maxSep && signs < 1<<(8*(maxSigns-1)); {
		sign, size := signAt(text, end)
		if size == 0 {
			break
		}
		signs = signs<<8 | uint32(sign)
		spaced = spaced || sign == ' '
		end += size
	}
	if signs == 0 {
		return none, false, at, false
	}
	if _, size := digitAt(text, end); size == 0 {
		return none, false, at, false
	}
	return kindOf(signs), spaced, end, true
}

// maxSigns is the most signs between two groups.
const maxSigns = 3

// signAt reads one sign between groups; those that only look other are the same.
func signAt(text string, at int) (sign byte, size int) {
	c := text[at]
	if c < utf8.RuneSelf {
		switch c {
		case ' ', '-', '.', '/', '(', ')':
			return c, 1
		}
		return 0, 0
	}
	if c != 0xc2 && (c < 0xe2 || c > 0xef) {
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

// kindOf returns what up to three signs are together.
func kindOf(signs uint32) sep {
	switch signs {
	case ' ':
		return space
	case '-':
		return hyphen
	case '.':
		return dot
	case '/':
		return slash
	case '(', ' '<<8 | '(', '-'<<8 | '(', ')'<<16 | ' '<<8 | '(':
		return opens
	case ')', ')'<<8 | ' ', ')'<<8 | '-':
		return closes
	}
	return other
}
