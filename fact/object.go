package fact

import (
	"math"
	"strconv"
	"strings"
)

// Kind is the type of an object (C-3).
type Kind uint8

// The kinds of objects. The zero value is null.
const (
	Null Kind = iota
	Text
	Number
	Bool
	Blob
)

// MaxObjectBytes is the most that a text object may hold (C-5): 1 MiB.
const MaxObjectBytes = 1 << 20

// maxDigits is the most digits that a number may be written with (C-3).
const maxDigits = 400

// Object is the value of a fact: text, a number, a bool, null, or a reference
// to a blob (C-3). The zero value is null. Objects are compared with Equal.
type Object struct {
	Kind Kind
	// Text is the text, the number as it was written, or the blob's hash.
	Text string
	// Bool is the value of a Bool.
	Bool bool
	// Size is the size of a Blob in bytes.
	Size int64
}

// TextObject makes a text object.
func TextObject(s string) Object { return Object{Kind: Text, Text: s} }

// BoolObject makes a bool object.
func BoolObject(b bool) Object { return Object{Kind: Bool, Bool: b} }

// NumberObject makes a number object from a JSON number. It refuses more than
// 400 digits, and values that a double would round to infinity or to zero.
func NumberObject(field, text string) (Object, error) {
	if !isJSONNumber(text) {
		return Object{}, Invalid(field, "is not a number: "+quote(text))
	}
	digits := 0
	nonzero := false
	for i := 0; i < len(text) && text[i] != 'e' && text[i] != 'E'; i++ {
		if text[i] >= '0' && text[i] <= '9' {
			digits++
			nonzero = nonzero || text[i] != '0'
		}
	}
	if digits > maxDigits || len(text) > 2*maxDigits {
		return Object{}, Invalid(field, "is a number of more than 400 digits")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return Object{}, Invalid(field, "is a number too large to be kept: "+quote(text))
	}
	if f == 0 && nonzero {
		return Object{}, Invalid(field, "is a number too small to be kept: "+quote(text))
	}
	return Object{Kind: Number, Text: text}, nil
}

// BlobObject makes a blob reference from a SHA-256 in hex and a size in bytes.
func BlobObject(field, hash string, size int64) (Object, error) {
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdefABCDEF") != "" {
		return Object{}, Invalid(field, "is not a blob reference: hash must be a SHA-256 of 64 hex digits")
	}
	if size < 0 {
		return Object{}, Invalid(field, "is not a blob reference: size must not be negative")
	}
	return Object{Kind: Blob, Text: strings.ToLower(hash), Size: size}, nil
}

// Equal reports whether two objects are the same value: 1, 1.0 and 1e0 are one
// number, and "1" is a text (C-3).
func (o Object) Equal(p Object) bool {
	if o.Kind != p.Kind {
		return false
	}
	switch o.Kind {
	case Text:
		return o.Text == p.Text
	case Number:
		return o.Text == p.Text || canonicalNumber(o.Text) == canonicalNumber(p.Text)
	case Bool:
		return o.Bool == p.Bool
	case Blob:
		return o.Text == p.Text && o.Size == p.Size
	}
	return true
}

// Canonical returns a string that two objects share if and only if they are
// Equal. It is for index keys and hashes, not for people.
func (o Object) Canonical() string { return string(o.AppendCanonical(nil)) }

// AppendCanonical appends what Canonical returns.
func (o Object) AppendCanonical(dst []byte) []byte {
	switch o.Kind {
	case Text:
		return append(append(dst, 't'), o.Text...)
	case Number:
		return append(append(dst, 'n'), canonicalNumber(o.Text)...)
	case Bool:
		if o.Bool {
			return append(dst, "b1"...)
		}
		return append(dst, "b0"...)
	case Blob:
		return strconv.AppendInt(append(append(append(dst, 'h'), o.Text...), ':'), o.Size, 10)
	}
	return append(dst, '0')
}

// Validate refuses a text that is too long (C-5).
func (o Object) Validate(field string) error {
	if o.Kind == Text && len(o.Text) > MaxObjectBytes {
		return Invalid(field, "is longer than 1 MiB")
	}
	return nil
}

// canonicalNumber writes a JSON number as sign, digits without outer zeros, and
// a power of ten, so that equal values have equal texts, digit for digit.
func canonicalNumber(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		exponent, _ = strconv.Atoi(text[i+1:]) // bounded: the value fits a double
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	exponent -= len(frac)
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return "0"
	}
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	return sign + short + "e" + strconv.Itoa(exponent)
}

// isJSONNumber reports whether text is a number in JSON's grammar.
func isJSONNumber(text string) bool {
	s := strings.TrimPrefix(text, "-")
	n := leadingDigits(s)
	if n == 0 || (n > 1 && s[0] == '0') {
		return false
	}
	s = s[n:]
	if strings.HasPrefix(s, ".") {
		if n = leadingDigits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if n = leadingDigits(s); n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
