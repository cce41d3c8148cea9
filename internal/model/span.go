package model

import "abagraph/fact"

// span is a half-open stretch of time.
type span struct{ from, until fact.Instant }

func (v *version) span() span { return span{v.ValidFrom, v.ValidUntil} }

func spans(rows []version) []span {
	var list []span
	for i := range rows {
		list = append(list, rows[i].span())
	}
	return list
}

// less returns what is left of spans after the cuts, in the order of spans.
func less(spans, cuts []span) []span {
	for _, cut := range cuts {
		var rest []span
		for _, s := range spans {
			for _, part := range []span{{s.from, min(s.until, cut.from)}, {max(s.from, cut.until), s.until}} {
				if part.from < part.until {
					rest = append(rest, part)
				}
			}
		}
		spans = rest
	}
	return spans
}
