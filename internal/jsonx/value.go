package jsonx

import (
	"math"
	"strconv"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of JSON values. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

// String returns the kind as a noun for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "nothing"
}

// Value is one parsed JSON value. It shares memory with the text that it was
// parsed from and is never changed.
type Value struct {
	Kind Kind
	// Bool is the value of a Bool.
	Bool bool
	// Name is the name of the field that holds the value, in an object.
	Name string
	// Raw is the value as it was written: a number keeps its text (C-3).
	Raw string
	// Text is the decoded text of a String.
	Text string
	// Kids are the elements of an Array, or the fields of an Object in their
	// order.
	Kids []Value
}

// Field returns the field of an Object by its exact name.
func (v Value) Field(name string) (Value, bool) {
	if v.Kind != Object {
		return Value{}, false
	}
	for i := range v.Kids {
		if v.Kids[i].Name == name {
			return v.Kids[i], true
		}
	}
	return Value{}, false
}

// Whole returns a Number that has no fraction, however it is written: 20, 20.0 and 2e1
// are one integer to JSON Schema, and programs that know no other numbers than doubles
// write the second.
func (v Value) Whole() (int64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53 // from here on a double stands for several integers
	x, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) >= exact {
		return 0, false
	}
	return int64(x), true
}
