package memory

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// maxWarnings bounds the warnings of one request.
const maxWarnings = 10

// Warnings are what the answer should carry (C-1).
func (in *Input) Warnings() []string {
	if in.unsaid > 0 {
		return append(in.warnings, "and "+strconv.Itoa(in.unsaid)+" more of the kind")
	}
	return in.warnings
}

// Instant reads a time that was written as text, in a query say, in any form
// that C-1 accepts.
func (in *Input) Instant(field, text string) (fact.Instant, error) {
	t, err := fact.ParseInstant(field, plusInOffset(text))
	if err == nil {
		in.warn(field, text, t)
	}
	return t, err
}

// Time reads a time from a field of JSON, in any form that C-1 accepts; absent is
// fact.NoInstant.
func (in *Input) Time(f *jsonx.Fields, name string) fact.Instant { return in.time(f, name) }

// time reads a time from a field of JSON; absent is fact.NoInstant.
func (in *Input) time(f *jsonx.Fields, name string) fact.Instant {
	t := f.Time(name)
	if t.Given() {
		v, _ := f.Get(name)
		in.warn(f.Path(name), v.Raw, t)
	}
	return t
}

// warn notes a number that looks like seconds. It is read as milliseconds all
// the same: seconds are never guessed (C-1).
func (in *Input) warn(field, text string, t fact.Instant) {
	suspicion := Suspicion(field, text, t)
	if suspicion == "" {
		return
	}
	if len(in.warnings) >= maxWarnings {
		in.unsaid++
		return
	}
	in.warnings = append(in.warnings, suspicion)
}

// Suspicion says of a time that was written as a number and looks like seconds how it
// was read; "" = there is nothing to say.
func Suspicion(field, text string, t fact.Instant) string {
	if !t.LooksLikeSeconds() || !isNumber(text) {
		return ""
	}
	return field + " " + strconv.FormatInt(int64(t), 10) + " looks like seconds; it was read as Unix milliseconds, which is " + t.Time().Format("2006-01-02T15:04:05Z")
}

// isNumber tells a time that was given as a number, quoted or not, from a date.
func isNumber(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '.', c == '"', c == 'e', c == 'E', c == '+':
		case c == '-' && (i == 0 || text[i-1] == '"' || text[i-1]|0x20 == 'e'):
		default:
			return false
		}
	}
	return true
}

// plusInOffset mends an offset whose plus sign a query string has turned into a
// space: 2024-06-19T12:26:40 02:00.
func plusInOffset(text string) string {
	for _, n := range [...]int{6, 5, 3} { // " 02:00", " 0200", " 02"
		at := len(text) - n
		if at >= len("2006-01-02T15:04") && text[at] == ' ' && text[10]|0x20 == 't' {
			return text[:at] + "+" + text[at+1:]
		}
	}
	return text
}

// Warn notes something else that the answer should say.
func (in *Input) Warn(text string) { in.warnings = append(in.warnings, text) }
