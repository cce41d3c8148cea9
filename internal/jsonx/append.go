package jsonx

import (
	"math"
	"strconv"
	"unicode/utf8"

	"abagraph/fact"
)

const hexDigits = "0123456789abcdef"

// plain marks the bytes that a JSON string may hold as they are.
var plain = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\'
	}
	return table
}()

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become the
// replacement character, so that the output is always valid.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// AppendStrings appends an array of strings.
func AppendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}

// AppendFloat appends a number in its shortest form; what JSON cannot hold (an
// infinity, NaN) becomes null.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// AppendInstant appends a time in Unix milliseconds (C-1), or null for an open
// end and for a time that was not given.
func AppendInstant(dst []byte, t fact.Instant) []byte {
	if t == fact.Forever || t == fact.NoInstant {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(t), 10)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// AppendObject appends the value of a fact (C-3).
func AppendObject(dst []byte, o fact.Object) []byte {
	switch o.Kind {
	case fact.Text:
		return AppendString(dst, o.Text)
	case fact.Number:
		return append(dst, o.Text...)
	case fact.Bool:
		return AppendBool(dst, o.Bool)
	case fact.Blob:
		dst = append(dst, `{"hash":"`...)
		dst = append(dst, o.Text...)
		dst = append(dst, `","size":`...)
		return append(strconv.AppendInt(dst, o.Size, 10), '}')
	}
	return append(dst, "null"...)
}

// AppendObjects appends an array of values.
func AppendObjects(dst []byte, list []fact.Object) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendObject(dst, list[i])
	}
	return append(dst, ']')
}

// AppendID appends an id as a string, or null for no fact.
func AppendID(dst []byte, id fact.ID) []byte {
	if id.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst, _ = id.AppendText(dst) // it cannot fail
	return append(dst, '"')
}

// AppendIDs appends an array of ids.
func AppendIDs(dst []byte, ids []fact.ID) []byte {
	dst = append(dst, '[')
	for i := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendID(dst, ids[i])
	}
	return append(dst, ']')
}
