package entry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"abagraph/fact"
)

// ErrMalformed is wrapped by every decoding error.
var ErrMalformed = errors.New("malformed entry")

// writer appends fields to a buffer.
type writer struct{ b []byte }

func (w *writer) byte(v byte)     { w.b = append(w.b, v) }
func (w *writer) uint(v uint64)   { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)     { w.b = binary.AppendVarint(w.b, v) }
func (w *writer) raw(v []byte)    { w.b = append(w.b, v...) }
func (w *writer) string(v string) { w.uint(uint64(len(v))); w.b = append(w.b, v...) }
func (w *writer) bytes(v []byte)  { w.uint(uint64(len(v))); w.b = append(w.b, v...) }
func (w *writer) float(v float64) { w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(v)) }
func (w *writer) id(v fact.ID)    { w.b = append(w.b, v[:]...) }
func (w *writer) time(v fact.Instant) {
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(v))
}

// instant writes a time in few bytes: one for Forever and NoInstant.
func (w *writer) instant(v fact.Instant) {
	switch v {
	case fact.Forever:
		w.byte(1)
	case fact.NoInstant:
		w.byte(2)
	default:
		w.byte(0)
		w.int(int64(v))
	}
}

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
		return
	}
	w.byte(0)
}

func (w *writer) optional(v *string) {
	if v == nil {
		w.byte(0)
		return
	}
	w.byte(1)
	w.string(*v)
}

// reader takes fields from a buffer. The first failure sticks; every later
// read answers zero values.
type reader struct {
	b       []byte
	err     error
	repeats *Repeats // nil = every text is a copy
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail("cut short")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("bad number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail("bad number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail("cut short")
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

// length reads a count of things that take at least one byte each, so that a
// forged count cannot ask for more memory than there are bytes.
func (r *reader) length() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail("a length beyond the end")
		return 0
	}
	return int(n)
}

// text reads a text that lies in the buffer.
func (r *reader) text() []byte { return r.take(r.length()) }

func (r *reader) string() string { return string(r.text()) }

func (r *reader) bytes() []byte {
	n := r.length()
	if n == 0 {
		return nil
	}
	return append([]byte(nil), r.take(n)...)
}

func (r *reader) float() float64 {
	b := r.take(8)
	if len(b) < 8 {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func (r *reader) id() (id fact.ID) {
	copy(id[:], r.take(len(id)))
	return id
}

func (r *reader) hash() (h [32]byte) {
	copy(h[:], r.take(len(h)))
	return h
}

func (r *reader) time() fact.Instant {
	b := r.take(8)
	if len(b) < 8 {
		return 0
	}
	return fact.Instant(binary.BigEndian.Uint64(b))
}

func (r *reader) instant() fact.Instant {
	switch r.byte() {
	case 0:
		return fact.Instant(r.int())
	case 1:
		return fact.Forever
	case 2:
		return fact.NoInstant
	}
	r.fail("bad time")
	return 0
}

func (r *reader) bool() bool {
	switch r.byte() {
	case 0:
		return false
	case 1:
		return true
	}
	r.fail("bad bool")
	return false
}

func (r *reader) optional() *string {
	if !r.bool() {
		return nil
	}
	s := r.string()
	return &s
}

// done answers the first failure, or one for bytes that nobody read.
func (r *reader) done() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the end")
	}
	return r.err
}
