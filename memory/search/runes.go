package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// decode reads a rune, quickly where it is ASCII.
func decode(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

// wordRune tells whether a rune is part of a word: a letter, a mark, a digit, or
// a joiner within a word.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		c := byte(r)
		return lowerCase(c) || upperCase(c) || digit(c)
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner
}

func apostrophe(r rune) bool { return r == '\'' || r == '\u2019' || r == '\u02bc' }

// The scripts that put no space between words.
const (
	classIdeographs = iota + 1 // Chinese and Japanese
	classHangul
	classThai
	classLao
	classKhmer
	classMyanmar
)

var spacelessScripts = [...]struct {
	class  uint8
	tables []*unicode.RangeTable
}{
	{classIdeographs, []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}},
	{classHangul, []*unicode.RangeTable{unicode.Hangul}},
	{classThai, []*unicode.RangeTable{unicode.Thai}},
	{classLao, []*unicode.RangeTable{unicode.Lao}},
	{classKhmer, []*unicode.RangeTable{unicode.Khmer}},
	{classMyanmar, []*unicode.RangeTable{unicode.Myanmar}},
}

// spaceless returns the class of a letter whose script is written without
// spaces, and 0 for every other rune. The mark that lengthens a vowel in Japanese
// belongs to both of its scripts.
func spaceless(r rune) uint8 {
	if r < 0x0e00 {
		return 0
	}
	if r == 'ー' {
		return classIdeographs
	}
	if !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return 0
	}
	for i := range spacelessScripts {
		if unicode.In(r, spacelessScripts[i].tables...) {
			return spacelessScripts[i].class
		}
	}
	return 0
}

// fold brings a text to the form in which words are compared, but for their
// case: compatible forms as one (NFKC), and letters of Latin and Greek without
// their accents.
func fold(s string) string {
	if ascii(s) {
		return s
	}
	apart := norm.NFKD.String(s)
	b := make([]byte, 0, len(apart))
	bare := false // the letter before may lose its marks
	for i := 0; i < len(apart); {
		r, n := decode(apart[i:])
		switch {
		case r >= 0x300 && r <= 0x36f && bare:
		case r == 'ß':
			b = append(b, "ss"...)
		case r == 'ς':
			b = append(b, "σ"...)
		default:
			b = append(b, apart[i:i+n]...)
		}
		if !unicode.IsMark(r) {
			bare = unicode.In(r, unicode.Latin, unicode.Greek)
		}
		i += n
	}
	return norm.NFC.String(string(b))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower appends a word in lower case.
func lower(dst, word []byte) []byte {
	for i := 0; i < len(word); {
		if c := word[i]; c < utf8.RuneSelf {
			if upperCase(c) {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(word[i:])
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += n
	}
	return dst
}
