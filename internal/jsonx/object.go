package jsonx

import (
	"strconv"

	"abagraph/fact"
)

// trackedFields bounds the fields of which Fields remembers whether they were
// asked for. An object with more has certainly one that nobody knows.
const trackedFields = 256

// Fields hands out the fields of one object by name and type. Its getters keep
// the first problem; Done reports it, or the first field that nobody asked for,
// so that a misspelt name is never ignored (C-43). A field that is null counts
// as absent, except where a getter says otherwise.
type Fields struct {
	path string
	kids []Value
	seen [trackedFields / 64]uint64
	err  error
}

// Open returns the fields of an object. The path names it in errors and is ""
// for a whole body. A value that is no object gives Fields that report so.
func Open(v Value, path string) *Fields {
	f := &Fields{path: path}
	if v.Kind != Object {
		f.err = fact.Invalid(path, "must be an object, not "+v.Kind.String())
		if path == "" {
			f.err = fact.Invalid("", "the body must be an object, not "+v.Kind.String())
		}
		return f
	}
	f.kids = v.Kids
	return f
}

// Path returns the full path of a field.
func (f *Fields) Path(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// Index returns the path of an element of an array.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Fail keeps a problem, unless there is one already.
func (f *Fields) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Err returns the first problem so far.
func (f *Fields) Err() error { return f.err }

// Done returns the first field that was not asked for, as an error, or else the
// first problem that a getter met.
func (f *Fields) Done() error {
	for i := range f.kids {
		if i >= trackedFields {
			break
		}
		if f.seen[i/64]&(1<<(i%64)) == 0 {
			return fact.Invalid(f.Path(shorten(f.kids[i].Name)), "is not a known field here")
		}
	}
	return f.err
}

// Any returns a field as it is, null included.
func (f *Fields) Any(name string) (Value, bool) {
	for i := range f.kids {
		if f.kids[i].Name != name {
			continue
		}
		if i < trackedFields {
			f.seen[i/64] |= 1 << (i % 64)
		}
		return f.kids[i], true
	}
	return Value{}, false
}

// Get returns a field that is there and not null.
func (f *Fields) Get(name string) (Value, bool) {
	v, ok := f.Any(name)
	return v, ok && v.Kind != Null
}

// Refuse keeps a problem if the field is there at all.
func (f *Fields) Refuse(name, problem string) {
	if _, ok := f.Any(name); ok {
		f.Fail(fact.Invalid(f.Path(name), problem))
	}
}

// Ignore marks a field as known without reading it.
func (f *Fields) Ignore(name string) { f.Any(name) }

func (f *Fields) typed(name string, kind Kind) (Value, bool) {
	v, ok := f.Get(name)
	if ok && v.Kind != kind {
		f.Fail(fact.Invalid(f.Path(name), "must be "+kind.String()+", not "+v.Kind.String()))
		return Value{}, false
	}
	return v, ok
}

// Text returns a string field, and whether it is there.
func (f *Fields) Text(name string) (string, bool) {
	v, ok := f.typed(name, String)
	return v.Text, ok
}

// Required returns a string field that must be there.
func (f *Fields) Required(name string) string {
	v, ok := f.Get(name)
	switch {
	case !ok:
		f.Fail(fact.Invalid(f.Path(name), "is required"))
	case v.Kind != String:
		f.Fail(fact.Invalid(f.Path(name), "must be a string, not "+v.Kind.String()))
	}
	return v.Text
}

// Flag returns a boolean field; absent is false.
func (f *Fields) Flag(name string) bool {
	v, _ := f.typed(name, Bool)
	return v.Bool
}

// Array returns the elements of an array field; absent is none.
func (f *Fields) Array(name string) []Value {
	v, _ := f.typed(name, Array)
	return v.Kids
}

// Integer returns a whole number field within [low, high], and whether it is
// there.
func (f *Fields) Integer(name string, low, high int64) (int64, bool) {
	v, ok := f.typed(name, Number)
	if !ok {
		return 0, false
	}
	n, whole := v.Whole()
	if !whole || n < low || n > high {
		f.Fail(fact.Invalid(f.Path(name), "must be a whole number from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10)))
		return 0, false
	}
	return n, true
}

// Time returns a time field in any form that C-1 accepts: a number of
// milliseconds, a string of them, or RFC 3339. Absent is fact.NoInstant.
func (f *Fields) Time(name string) fact.Instant {
	v, ok := f.Get(name)
	if !ok {
		return fact.NoInstant
	}
	var t fact.Instant
	var err error
	switch v.Kind {
	case Number:
		t, err = fact.ParseMillisNumber(f.Path(name), v.Raw)
	case String:
		t, err = fact.ParseInstant(f.Path(name), v.Text)
	default:
		err = fact.Invalid(f.Path(name), "must be a time, not "+v.Kind.String())
	}
	if err != nil {
		f.Fail(err)
		return fact.NoInstant
	}
	return t
}
