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
	folded   bool // it is written otherwise than it is meant
}

// with adds a span. Where there is no room it makes twice as much, since a text that has
// many may be made of them.
func with(spans []span, s span) []span {
	if len(spans) == cap(spans) {
		spans = slices.Grow(spans, max(8, len(spans)))
	}
	return append(spans, s)
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
		instead := Redacted
		value := text[s.from:s.to]
		if s.folded {
			value = meant(value)
		}
		switch {
		case s.kind != date:
			instead = m.replace(value)
		default:
			moved, ok := m.shift(value)
			if !ok {
				continue
			}
			instead = moved
		}
		b.WriteString(text[at:s.from])
		b.WriteString(instead)
		at = s.to
		n++
	}
	b.WriteString(text[at:])
	return b.String(), n
}

// find returns what is personal, in order, none within another one.
func (m *Masker) find(text string) []span {
	p, folded := unfold(text)
	switch {
	case folded:
		return m.both(text, &p)
	case bare(text):
		return nil
	}
	return m.look(text)
}

// both looks at a text as it is meant, and as it is written: one may hide what the
// other shows.
func (m *Masker) both(text string, p *plainText) []span {
	spans := m.look(p.text)
	for i := range spans {
		spans[i] = p.written(spans[i])
	}
	spans = append(spans, m.look(text)...)
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := spans[:0]
	for _, s := range spans {
		if n := len(kept); n > 0 && s.from < kept[n-1].to {
			last := &kept[n-1]
			last.to, last.folded = max(last.to, s.to), true
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// meant is what a part of a text stands for.
func meant(text string) string {
	if p, folded := unfold(text); folded {
		return p.text
	}
	return text
}

// look finds what is personal in a text as it is written.
func (m *Masker) look(text string) []span {
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

// weights are the marks, and as much as an @ for what may stand for one.
var weights = func() [256]uint8 {
	list := marks
	for _, c := range []byte{'%', '&', '\\', '(', '[', 0xef} {
		list[c] = fewest
	}
	return list
}()

// clean reports whether there is nothing to look for: nothing that may be an @, and too
// few digits. It is what nearly every text pays, and all of it.
func clean[T string | []byte](text T) bool { return below(text, &weights) }

// bare is clean of a text in which nothing stands for something else.
func bare(text string) bool { return below(text, &marks) }

func below[T string | []byte](text T, marks *[256]uint8) bool {
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
