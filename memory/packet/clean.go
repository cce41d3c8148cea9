package packet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes a stored text fit to stand in one line of a prompt: runs of line
// breaks, tabs and control characters become one space, and what cannot be seen
// (zero-width, bidirectional, tag and other format characters, variation
// selectors, fillers) is dropped. Everything visible stays.
func clean(s string) string {
	if plainASCII(s) {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case hidden(r):
			continue
		case breaks(r):
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// breaks reports whether a rune ends a line or moves the pen.
func breaks(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// hidden reports whether a rune shows nothing by itself.
func hidden(r rune) bool {
	if r < 0xad {
		return false
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r == utf8.RuneError || unicode.Is(unicode.Co, r)
}

// cut returns the first bytes of a text, as far as whole characters go, and
// whether something was cut off.
func cut(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}
