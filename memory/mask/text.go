package mask

import (
	"cmp"
	"slices"
	"strings"
)

// span is a part of a text that is personal.
type span struct {
	from, to int
	kind     Kind
}

// Kind is what a span holds.
type Kind uint8

// The kinds of personal data, and dates, which are looked for only where they are
// moved.
const (
	Email Kind = iota
	SSN
	Card
	Phone
	date
)

var kindNames = [...]string{"email", "ssn", "card", "phone", "date"}

// String returns the word that tables use.
func (k Kind) String() string { return kindNames[k] }

// Text masks a text, and counts what it masked.
func (m *Masker) Text(text string) (string, int) {
	if m.Mode == Off || clean(text) {
		return text, 0
	}
	spans := m.find(text)
	if len(spans) == 0 {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text))
	at, n := 0, 0
	for _, s := range spans {
		with := Redacted
		switch {
		case s.kind != date:
			with = m.replace(text[s.from:s.to])
		default:
			moved, ok := m.shift(text[s.from:s.to])
			if !ok {
				continue
			}
			with = moved
		}
		b.WriteString(text[at:s.from])
		b.WriteString(with)
		at = s.to
		n++
	}
	b.WriteString(text[at:])
	return b.String(), n
}

// find returns what is personal, in order, none within another one.
func (m *Masker) find(text string) []span {
	spans := emails(text, nil)
	addresses := len(spans)
	spans = m.numbers(text, spans)
	if addresses > 0 && len(spans) > addresses {
		slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	kept, end := spans[:0], 0
	links := len(spans) > 0 && strings.Contains(text, "[[")
	for _, s := range spans {
		if s.from >= end && !(links && inLink(text, s)) {
			kept, end = append(kept, s), s.to
		}
	}
	return kept
}

// Marks of bytes: a digit counts one, and so does what may begin a digit of another
// script; an @ counts as much as the fewest digits that are personal.
const fewest = 8

var marks = func() (list [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		list[c] = 1
	}
	for _, lead := range leads {
		list[lead] = 1
	}
	list['@'] = fewest
	return list
}()

// clean reports whether there is nothing to look for: no @, and too few digits. It
// is what nearly every text pays, and all of it.
func clean[T string | []byte](text T) bool {
	n := uint(0)
	for i := 0; i < len(text); i++ {
		if n += uint(marks[text[i]]); n >= fewest {
			return false
		}
	}
	return true
}

// maxLink is how far around a span the ends of a link are looked for.
const maxLink = 256

// inLink reports whether a span lies in the target of a [[link]] to an entity. A
// reference stays what it is, so that no edge of the graph breaks.
func inLink(text string, s span) bool {
	open := s.from
	for low := max(1, s.from-maxLink); ; open-- {
		if open <= low {
			return false
		}
		switch text[open-1] {
		case ']', '|', '\n':
			return false
		case '[':
			if text[open-2] != '[' {
				return false
			}
		default:
			continue
		}
		break
	}
	rest := text[open:min(len(text), s.to+maxLink)]
	for end := s.to - open; end < len(rest); end++ {
		switch rest[end] {
		case '|', ']':
			return isEntity(rest[:end])
		case '[', '\n':
			return false
		}
	}
	return false
}
