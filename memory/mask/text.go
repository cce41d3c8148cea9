package mask

import (
	"cmp"
	"slices"
	"strings"
)

// span is a part of a text that is personal.
type span struct {
	from, to int
	date     bool
}

// Text masks a text, and counts what it masked.
func (m *Masker) Text(text string) (string, int) {
	spans := emails(text, nil)
	spans = numbers(text, spans, m.Mode == ShiftDate)
	if len(spans) == 0 {
		return text, 0
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at, n := 0, 0
	for _, s := range spans {
		if s.from < at {
			continue // it lies within one that has been masked
		}
		with := ""
		if s.date {
			moved, ok := m.shift(text[s.from:s.to])
			if !ok {
				continue
			}
			with = moved
		} else {
			with = m.replace(text[s.from:s.to])
		}
		b.WriteString(text[at:s.from] + with)
		at = s.to
		n++
	}
	b.WriteString(text[at:])
	return b.String(), n
}
