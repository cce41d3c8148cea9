package fact

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Instant is a point in time in Unix milliseconds (C-1). Zero and negative
// values are real instants.
type Instant int64

// Bounds of the instants that a user may give (C-1): the first millisecond of
// the year -9999 and the last one of the year 9999.
const (
	MinInstant Instant = -377705116800000
	MaxInstant Instant = 253402300799999
)

// Forever stands for an open end: it is later than every instant that can be
// given. On the wire it is null (or absent).
const Forever Instant = math.MaxInt64

// NoInstant stands for a time that was not given.
const NoInstant Instant = math.MinInt64

// Given reports whether the instant was given at all.
func (t Instant) Given() bool { return t != NoInstant }

// Valid reports whether a user may give this instant (C-1).
func (t Instant) Valid() bool { return t >= MinInstant && t <= MaxInstant }

// LooksLikeSeconds reports whether a value has the magnitude of epoch seconds
// of our time. It is still read as milliseconds; the answer carries a warning
// (C-1).
func (t Instant) LooksLikeSeconds() bool {
	v := t
	if v < 0 {
		v = -v
	}
	return v >= 1e8 && v < 1e11
}

// Time returns the instant as a UTC time.
func (t Instant) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// timeLayouts are the written forms of a time that C-1 accepts: RFC 3339 and
// ISO 8601 with an offset or Z, and a date alone, which is midnight UTC.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700",
	"2006-01-02 15:04:05Z07:00",
	"20060102T150405Z0700",
	"20060102T150405Z07:00",
	"2006-01-02",
}

// ParseInstant reads a time as C-1 allows it in text: decimal milliseconds
// (fractions are floored, no exponent) or RFC 3339 / ISO 8601 with a zone. The
// field names the parameter in the error.
func ParseInstant(field, text string) (Instant, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return 0, Invalid(field, "is not a time: it is empty")
	}
	if isDecimal(s) {
		return parseMillis(field, s)
	}
	if !offsetFits(normalizeTime(s)) {
		return 0, Invalid(field, "has no such offset: from -23:59 to +23:59, not "+quote(text))
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, normalizeTime(s)); err == nil {
			return checkInstant(field, text, t.UnixMilli())
		}
	}
	if t, ok := parseYear(s); ok {
		return checkInstant(field, text, t)
	}
	if looksZoneless(s) {
		return 0, Invalid(field, "is a time without a zone: add Z or an offset such as +02:00")
	}
	return 0, Invalid(field, "is not a time: give Unix milliseconds or RFC 3339 with an offset, not "+quote(text))
}

// ParseMillisNumber reads a time given as a JSON number: integer or fractional
// milliseconds, exponent allowed, floored (C-1).
func ParseMillisNumber(field, text string) (Instant, error) {
	if isDecimal(text) {
		return parseMillis(field, text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, Invalid(field, "is not a time: "+quote(text))
	}
	f = math.Floor(f)
	if f < float64(MinInstant) || f > float64(MaxInstant) {
		return 0, outOfRange(field, text)
	}
	return Instant(f), nil
}

func parseMillis(field, s string) (Instant, error) {
	whole, frac, _ := strings.Cut(s, ".")
	negative := strings.HasPrefix(whole, "-")
	if whole == "" || whole == "-" || whole == "+" {
		whole += "0"
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, outOfRange(field, s)
	}
	if negative && strings.Trim(frac, "0") != "" {
		v-- // floor, not truncation, for times before 1970
	}
	return checkInstant(field, s, v)
}

func checkInstant(field, text string, v int64) (Instant, error) {
	if t := Instant(v); t.Valid() {
		return t, nil
	}
	return 0, outOfRange(field, text)
}

func outOfRange(field, text string) error {
	return Invalid(field, "is outside the years -9999 to 9999 (times are Unix milliseconds; were microseconds sent?): "+quote(text))
}

// isDecimal reports whether s is an optionally signed decimal without exponent.
func isDecimal(s string) bool {
	digits, dots := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case (c == '-' || c == '+') && i == 0:
		default:
			return false
		}
	}
	return digits > 0 && dots <= 1
}

// offsetFits refuses the offsets that package time takes beyond those of RFC 3339: 24
// hours, and 60 minutes.
func offsetFits(s string) bool {
	clock, at := strings.IndexAny(s, "T "), strings.LastIndexAny(s, "+-")
	if clock < 0 || at < clock {
		return true
	}
	digits := strings.ReplaceAll(s[at+1:], ":", "")
	return len(digits) < 2 || digits[:2] < "24" && (len(digits) < 4 || digits[2:4] < "60")
}

// normalizeTime rewrites the lower-case t and z, which ISO 8601 allows, and the
// decimal comma.
func normalizeTime(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch c {
		case 't':
			b[i] = 'T'
		case 'z':
			b[i] = 'Z'
		case ',':
			b[i] = '.'
		}
	}
	return string(b)
}

// parseYear reads the signed and expanded years that the standard layouts lack:
// -0044-03-15 and +009999-12-31T23:59:59Z.
func parseYear(s string) (int64, bool) {
	if len(s) < 2 || (s[0] != '-' && s[0] != '+') {
		return 0, false
	}
	cut := strings.IndexByte(s[1:], '-')
	if cut < 4 || cut > 6 {
		return 0, false
	}
	year, err := strconv.Atoi(s[1 : 1+cut])
	if err != nil {
		return 0, false
	}
	if s[0] == '-' {
		year = -year
	}
	// A leap year stands in for the year while the rest is parsed; the true
	// year is put back afterwards, so that 29 February is judged by it.
	rest := "2000" + normalizeTime(s[1+cut:])
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, rest)
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		moved := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if moved.Month() != t.Month() {
			return 0, false
		}
		return moved.Add(-time.Duration(offset) * time.Second).UnixMilli(), true
	}
	return 0, false
}

// looksZoneless reports whether s would be a time if it had a zone.
func looksZoneless(s string) bool {
	for _, zone := range []string{"Z"} {
		for _, layout := range timeLayouts {
			if _, err := time.Parse(layout, normalizeTime(s)+zone); err == nil {
				return true
			}
		}
	}
	return false
}

func quote(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
