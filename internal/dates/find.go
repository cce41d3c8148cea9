package dates

import (
	"math"
	"strings"
	"time"

	"abagraph/fact"
)

// Window is a piece of time that a text names.
type Window struct {
	// From and Until bound it, Until not included. Without a bound they are
	// fact.MinInstant and fact.Forever.
	From, Until fact.Instant
	// Start and End tell where in the text it is named.
	Start, End int
}

// Point returns the middle of a window of a day or less, which stands for it
// where one instant is asked for; ok is false for a longer one.
func (w Window) Point() (at fact.Instant, ok bool) {
	if w.From == fact.MinInstant || w.Until == fact.Forever || w.Until-w.From > day {
		return 0, false
	}
	return w.From + (w.Until-w.From)/2, true
}

const day = fact.Instant(24 * time.Hour / time.Millisecond)

// Find returns the first piece of time that a text names, as read at an instant;
// ok is false where it names none.
func Find(text string, now fact.Instant) (w Window, ok bool) {
	r := reader{words: split(text), now: now}
	for i := range r.words {
		if w, n := r.phrase(i); n > 0 {
			w.Start, w.End = r.words[i].start, r.words[i+n-1].end
			return w, true
		}
	}
	return Window{}, false
}

// word is a run of a text without white space, less the punctuation around it.
type word struct {
	text       string // in lower case
	start, end int
}

func split(text string) []word {
	var list []word
	for i := 0; i < len(text); {
		if space(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && !space(text[end]) {
			end++
		}
		from, to := i, end
		for from < to && strings.IndexByte("([\"'", text[from]) >= 0 {
			from++
		}
		for to > from && strings.IndexByte(")]\"'?!.,;:", text[to-1]) >= 0 {
			to--
		}
		if from < to {
			list = append(list, word{strings.ToLower(text[from:to]), from, to})
		}
		i = end
	}
	return list
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// reader reads the words of one text.
type reader struct {
	words []word
	now   fact.Instant
}

// at returns a word, "" beyond the last one.
func (r *reader) at(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i].text
}

// span is the time that a date means.
type span struct{ from, until fact.Instant }

// always has no bounds.
var always = Window{From: fact.MinInstant, Until: fact.Forever}

// phrase reads a piece of time that begins with a word, its preposition
// included, and returns how many words it has; 0 = it is none.
func (r *reader) phrase(i int) (Window, int) {
	w, first := always, i
	switch r.at(i) {
	case "between":
		return r.pair(i, "and")
	case "from":
		for _, to := range [...]string{"to", "until", "till", "through"} {
			if w, n := r.pair(i, to); n > 0 {
				return w, n
			}
		}
		fallthrough
	case "since":
		if s, n := r.date(i+1, true); n > 0 {
			w.From = s.from
			return w, n + 1
		}
	case "after":
		if s, n := r.date(i+1, true); n > 0 {
			w.From = s.until
			return w, n + 1
		}
	case "prior":
		if r.at(i+1) != "to" {
			return w, 0
		}
		i++
		fallthrough
	case "before", "until", "till":
		if s, n := r.date(i+1, true); n > 0 {
			w.Until = s.from
			return w, n + 1 + i - first
		}
	case "by":
		if s, n := r.date(i+1, true); n > 0 {
			w.Until = s.until
			return w, n + 1
		}
	case "as":
		if r.at(i+1) == "of" {
			return r.within(i, 2, true)
		}
	case "on", "at":
		return r.within(i, 1, false)
	case "in", "during":
		return r.within(i, 1, true)
	default:
		return r.within(i, 0, false)
	}
	return w, 0
}

// within reads a date behind so many words; year tells whether a bare year is
// one there.
func (r *reader) within(i, behind int, year bool) (Window, int) {
	s, n := r.date(i+behind, year)
	if n == 0 {
		return Window{}, 0
	}
	return Window{From: s.from, Until: s.until}, n + behind
}

// pair reads two dates with a word between them.
func (r *reader) pair(i int, between string) (Window, int) {
	a, n := r.date(i+1, true)
	if n == 0 || r.at(i+1+n) != between {
		return Window{}, 0
	}
	b, m := r.date(i+2+n, true)
	if m == 0 || b.until <= a.from {
		return Window{}, 0
	}
	return Window{From: a.from, Until: b.until}, 2 + n + m
}

// date reads one date, and returns how many words it has; 0 = it is none.
func (r *reader) date(i int, year bool) (span, int) {
	skip := 0
	if r.at(i) == "the" {
		skip, year = 1, true
	}
	if s, n := r.exact(i + skip); n > 0 {
		return s, n + skip
	}
	if s, n := r.named(i + skip); n > 0 {
		return s, n + skip
	}
	if s, n := r.relative(i + skip); n > 0 {
		return s, n + skip
	}
	if r.at(i+skip) == "year" {
		skip++
		year = true
	}
	if y, ok := yearOf(r.at(i + skip)); ok && year && skip != 1 || ok && year && r.at(i) == "year" {
		return months(y, 1, 12), skip + 1
	}
	if s := r.at(i + skip); len(s) == 5 && strings.HasSuffix(s, "0s") {
		if y, ok := yearOf(s[:4]); ok && year {
			return span{months(y, 1, 1).from, months(y+9, 12, 1).until}, skip + 1
		}
	}
	return span{}, 0
}

// exact reads a date in digits: 2019-09-21, 2019/9/21, 2019-09, or RFC 3339.
func (r *reader) exact(i int) (span, int) {
	text := r.at(i)
	if len(text) > 10 && text[4] == '-' {
		if t, err := fact.ParseInstant("", text); err == nil {
			return span{t, t + 1}, 1
		}
		return span{}, 0
	}
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == '-' || c == '/' })
	if len(parts) < 2 || len(parts) > 3 || strings.ContainsAny(text, "/") && len(parts) < 3 {
		return span{}, 0
	}
	y, ok := yearOf(parts[0])
	m, fine := number(parts[1], 12)
	if !ok || !fine || m < 1 || len(parts) == 2 && len(parts[1]) != 2 {
		return span{}, 0
	}
	if len(parts) == 2 {
		return months(y, m, 1), 1
	}
	d, fine := number(parts[2], 31)
	if !fine {
		return span{}, 0
	}
	return dayOf(y, m, d)
}

// named reads a date with the name of its month, or a quarter.
func (r *reader) named(i int) (span, int) {
	if m := monthOf(r.at(i)); m > 0 {
		if d, ok := ordinal(r.at(i + 1)); ok {
			if y, ok := yearOf(r.at(i + 2)); ok {
				s, n := dayOf(y, m, d)
				return s, 3 * n
			}
		}
		of := i + 1
		if r.at(of) == "of" {
			of++
		}
		if y, ok := yearOf(r.at(of)); ok {
			return months(y, m, 1), of + 1 - i
		}
		return span{}, 0
	}
	if d, ok := ordinal(r.at(i)); ok {
		of := i + 1
		if r.at(of) == "of" {
			of++
		}
		y, ok := yearOf(r.at(of + 1))
		if m := monthOf(r.at(of)); m > 0 && ok {
			s, n := dayOf(y, m, d)
			return s, n * (of + 2 - i)
		}
		return span{}, 0
	}
	if q := r.at(i); len(q) == 2 && q[0] == 'q' && q[1] >= '1' && q[1] <= '4' {
		of := i + 1
		if r.at(of) == "of" {
			of++
		}
		if y, ok := yearOf(r.at(of)); ok {
			return months(y, 3*int(q[1]-'1')+1, 3), of + 1 - i
		}
	}
	return span{}, 0
}

// relative reads a date that is told from now: yesterday, last year, 3 days ago.
func (r *reader) relative(i int) (span, int) {
	now := r.now.Time()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	shift := func(t time.Time, n int, unit string) (span, bool) {
		from, until := t, t
		switch unit {
		case "day":
			from = t.AddDate(0, 0, n)
			until = from.AddDate(0, 0, 1)
		case "week":
			from = t.AddDate(0, 0, 7*n-(int(t.Weekday())+6)%7)
			until = from.AddDate(0, 0, 7)
		case "month":
			from = time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
			until = from.AddDate(0, 1, 0)
		case "year":
			from = time.Date(t.Year()+n, 1, 1, 0, 0, 0, 0, time.UTC)
			until = from.AddDate(1, 0, 0)
		default:
			return span{}, false
		}
		return span{fact.Instant(from.UnixMilli()), fact.Instant(until.UnixMilli())}, true
	}
	switch text := r.at(i); text {
	case "today", "yesterday", "tomorrow":
		s, _ := shift(today, map[string]int{"yesterday": -1, "tomorrow": 1}[text], "day")
		return s, 1
	case "last", "this", "next":
		if s, ok := shift(today, map[string]int{"last": -1, "next": 1}[text], r.at(i+1)); ok && r.at(i+1) != "day" {
			return s, 2
		}
	}
	n, ok := number(r.at(i), 10_000)
	if one := r.at(i); one == "a" || one == "an" || one == "one" {
		n, ok = 1, true
	}
	if !ok || r.at(i+2) != "ago" {
		return span{}, 0
	}
	return ago(today, n, strings.TrimSuffix(r.at(i+1), "s"))
}

// ago is the day that lies so many units back.
func ago(today time.Time, n int, unit string) (span, int) {
	switch unit {
	case "day":
		today = today.AddDate(0, 0, -n)
	case "week":
		today = today.AddDate(0, 0, -7*n)
	case "month":
		today = today.AddDate(0, -n, 0)
	case "year":
		today = today.AddDate(-n, 0, 0)
	default:
		return span{}, 0
	}
	from := fact.Instant(today.UnixMilli())
	if from < fact.MinInstant {
		return span{}, 0
	}
	return span{from, from + day}, 3
}

// dayOf is one day; 0 where there is no such day.
func dayOf(y, m, d int) (span, int) {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d || t.Month() != time.Month(m) {
		return span{}, 0
	}
	from := fact.Instant(t.UnixMilli())
	return span{from, from + day}, 1
}

// months are so many months from one on.
func months(y, m, n int) span {
	from, until := time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC), time.Date(y, time.Month(m+n), 1, 0, 0, 0, 0, time.UTC)
	return span{fact.Instant(from.UnixMilli()), fact.Instant(until.UnixMilli())}
}

// yearOf reads a year of four digits, from 1000 to 2999.
func yearOf(text string) (int, bool) {
	n, ok := number(text, 2999)
	return n, ok && len(text) == 4 && n >= 1000
}

func number(text string, most int) (int, bool) {
	if text == "" || len(text) > 5 {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int(text[i]-'0')
	}
	return n, n <= min(most, math.MaxInt32)
}

// ordinal reads the day of a month: 21, 21st.
func ordinal(text string) (int, bool) {
	for _, tail := range [...]string{"st", "nd", "rd", "th"} {
		text = strings.TrimSuffix(text, tail)
	}
	n, ok := number(text, 31)
	return n, ok && n > 0
}

var monthNames = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// monthOf reads a month by its name, or the first three letters of it; 0 = none.
func monthOf(text string) int {
	text = strings.TrimSuffix(text, ".")
	for i, name := range monthNames {
		if text == name || len(text) == 3 && text == name[:3] || text == "sept" && i == 8 {
			return i + 1
		}
	}
	return 0
}
