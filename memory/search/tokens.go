package search

import (
	"unicode"
	"unicode/utf8"
)

// maxTermBytes is where a term is cut: long runs without a break, such as
// base64, are known by their beginning.
const maxTermBytes = 64

// token is one term of a text. surface is the word before it was stemmed.
type token struct{ surface, term []byte }

// tokenizer cuts texts into terms. It is not safe for concurrent use, and a
// token that it hands out is valid until the next one.
//
// A word is a run of letters, marks and digits; everything else separates, so
// that snake_case, Type:id and paths are cut into their words. Besides a word of
// several parts its parts are terms (camelCase, python3), besides two words with
// a hyphen both as one (e-mail, email), and besides a number with points each
// beginning of it (3.5.2, 3.5, 3). Scripts that put no space between words are
// cut into pairs of characters.
type tokenizer struct {
	emit func(token)
	word []byte // the word that is being read, with its case
	low  []byte // the same, folded
	stem []byte
	join []byte
	prev []byte // the folded word before, where only a hyphen lies between
}

// text emits the terms of a text.
func (t *tokenizer) text(s string) {
	t.prev = t.prev[:0]
	s = fold(s)
	for i := 0; i < len(s); {
		r, n := decode(s[i:])
		if class := spaceless(r); class != 0 {
			i += t.pairs(s[i:], class)
			t.prev = t.prev[:0]
			continue
		}
		if !wordRune(r) {
			if r != '-' {
				t.prev = t.prev[:0]
			}
			i += n
			continue
		}
		if i == 0 || s[i-1] != '-' {
			t.prev = t.prev[:0]
		}
		if from, n := i+versionLetter(s[i:]), number(s[i+versionLetter(s[i:]):]); n > 0 {
			t.number(s[from : from+n])
			t.prev = t.prev[:0]
			i = from + n
			continue
		}
		i += t.run(s[i:])
	}
}

// run emits the word at the beginning of s, and returns its length.
func (t *tokenizer) run(s string) int {
	t.word = t.word[:0]
	i, letters := 0, true
	for i < len(s) {
		r, n := decode(s[i:])
		if apostrophe(r) && i > 0 && i+n < len(s) {
			if next, _ := decode(s[i+n:]); unicode.IsLetter(next) && spaceless(next) == 0 {
				i += n
				if rest, end := possessive(s[i:]); rest {
					i += end
					break
				}
				continue
			}
			break
		}
		if !wordRune(r) || spaceless(r) != 0 {
			break
		}
		letters = letters && !unicode.IsDigit(r)
		if r != zeroWidthJoiner && r != zeroWidthNonJoiner {
			t.word = append(t.word, s[i:i+n]...)
		}
		i += n
	}
	t.whole(letters)
	return max(i, 1)
}

// possessive tells whether the letters behind an apostrophe are an s alone.
func possessive(s string) (yes bool, length int) {
	if s == "" || s[0] != 's' && s[0] != 'S' {
		return false, 0
	}
	if r, _ := decode(s[1:]); len(s) > 1 && wordRune(r) {
		return false, 0
	}
	return true, 1
}

// whole emits a word, its parts, and with the one before it what both make
// without their hyphen.
func (t *tokenizer) whole(letters bool) {
	if len(t.word) == 0 {
		return // joiners alone
	}
	t.low = lower(t.low[:0], t.word)
	t.say(t.low, letters)
	t.parts()
	if !letters || len(t.low) > maxTermBytes/2 {
		t.prev = t.prev[:0]
		return
	}
	if len(t.prev) > 0 {
		t.join = append(append(t.join[:0], t.prev...), t.low...)
		t.say(t.join, true)
	}
	t.prev = append(t.prev[:0], t.low...)
}

// parts emits the parts of a word in camelCase or with digits, where it has
// several. Single letters are none.
func (t *tokenizer) parts() {
	from := 0
	for at := range len(t.word) {
		if at == 0 || !boundary(t.word, at) {
			continue
		}
		t.part(t.word[from:at])
		from = at
	}
	if from > 0 {
		t.part(t.word[from:])
	}
}

func (t *tokenizer) part(b []byte) {
	letters := b[0] < '0' || b[0] > '9'
	if letters && utf8.RuneCount(b) < 2 {
		return
	}
	t.join = lower(t.join[:0], b)
	t.say(t.join, letters)
}

// boundary tells whether a new part of a word begins at a byte.
func boundary(w []byte, at int) bool {
	before, here := w[at-1], w[at]
	if before >= utf8.RuneSelf || here >= utf8.RuneSelf {
		return wideBoundary(w, at)
	}
	switch {
	case digit(before) != digit(here):
		return true
	case lowerCase(before) && upperCase(here):
		return true
	case upperCase(before) && upperCase(here) && at+1 < len(w):
		return lowerCase(w[at+1])
	}
	return false
}

func wideBoundary(w []byte, at int) bool {
	if !utf8.RuneStart(w[at]) {
		return false
	}
	before, _ := utf8.DecodeLastRune(w[:at])
	here, _ := utf8.DecodeRune(w[at:])
	return unicode.IsLower(before) && unicode.IsUpper(here)
}

func digit(c byte) bool     { return c >= '0' && c <= '9' }
func lowerCase(c byte) bool { return c >= 'a' && c <= 'z' }
func upperCase(c byte) bool { return c >= 'A' && c <= 'Z' }

// say hands out a word of a text: as it is, and stemmed where it is one of
// letters.
func (t *tokenizer) say(word []byte, letters bool) {
	word = cut(word)
	t.stem = append(t.stem[:0], word...)
	if letters {
		t.stem = stem(t.stem)
	}
	t.emit(token{surface: word, term: t.stem})
}

// cut bounds a term, at the end of a character.
func cut(b []byte) []byte {
	if len(b) <= maxTermBytes {
		return b
	}
	n := maxTermBytes
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// number returns the length of the number at the beginning of s: digits, with
// single points and commas between them; 0 where there is none, or where letters
// follow, as in 9a and 3rd.
func number(s string) int {
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case digit(c):
			i++
			continue
		case (c == '.' || c == ',') && i > 0 && digit(s[i-1]) && i+1 < len(s) && digit(s[i+1]):
			i++
			continue
		}
		break
	}
	if i == 0 {
		return 0
	}
	if i < len(s) {
		if r, _ := decode(s[i:]); wordRune(r) && spaceless(r) == 0 {
			// The last group belongs to the word with the letters.
			for i > 0 && digit(s[i-1]) {
				i--
			}
			return max(i-1, 0)
		}
	}
	return i
}

// versionLetter returns the length of a v before a number, as in v2.0: 1 or 0.
func versionLetter(s string) int {
	if len(s) > 1 && (s[0] == 'v' || s[0] == 'V') && digit(s[1]) {
		return 1
	}
	return 0
}

// number emits a number, without the commas that group its thousands, and each
// beginning of it that ends before a point.
func (t *tokenizer) number(s string) {
	if grouped(s) {
		t.low = t.low[:0]
		for i := range len(s) {
			if s[i] != ',' {
				t.low = append(t.low, s[i])
			}
		}
		t.beginnings()
		return
	}
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && s[to] != ',' {
			to++
		}
		t.low = append(t.low[:0], s[from:to]...)
		t.beginnings()
		from = to + 1
	}
}

func (t *tokenizer) beginnings() {
	for n := len(t.low); n > 0; n-- {
		if n == len(t.low) || t.low[n] == '.' {
			t.say(t.low[:n], false)
		}
	}
}

// grouped tells whether all commas of a number group its thousands.
func grouped(s string) bool {
	first := -1
	for i := range len(s) {
		switch {
		case s[i] == '.':
			s = s[:i]
		case s[i] == ',' && first < 0:
			first = i
		}
		if i >= len(s) {
			break
		}
	}
	if first < 1 || first > 3 || (len(s)-first)%4 != 0 {
		return false
	}
	for i := first; i < len(s); i++ {
		if (s[i] == ',') != ((i-first)%4 == 0) {
			return false
		}
	}
	return true
}

// pairs emits a run of a script without spaces as pairs of its characters, a
// single one as it is, and returns its length. Ideographs are terms of their own
// too: one of them is often a whole word.
func (t *tokenizer) pairs(s string, class uint8) int {
	end, before, from, count := 0, 0, 0, 0
	for end < len(s) {
		r, n := decode(s[end:])
		if unicode.IsMark(r) && count > 0 {
			end += n
			continue
		}
		if spaceless(r) != class {
			break
		}
		t.pair(s[before:end], count)
		if class == classIdeographs && unicode.Is(unicode.Han, r) {
			t.plain(s[end : end+n])
		}
		before, from = from, end
		end += n
		count++
	}
	if count == 1 {
		if r, _ := decode(s); class != classIdeographs || !unicode.Is(unicode.Han, r) {
			t.plain(s[:end])
		}
		return end
	}
	t.pair(s[before:end], count)
	return end
}

// pair emits two characters, once that many were read.
func (t *tokenizer) pair(s string, count int) {
	if count >= 2 {
		t.plain(s)
	}
}

func (t *tokenizer) plain(s string) {
	t.low = lower(t.low[:0], []byte(s))
	t.say(t.low, false)
}
