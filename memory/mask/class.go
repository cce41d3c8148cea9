package mask

import (
	"sync"
	"unicode"
)

// What a character is, as far as it matters beside an address or a number.
const (
	letter uint8 = 1 << iota
	digit
	mark
	lower
)

// planeEnd is where the characters end that have a place in the table: those of nearly
// all texts.
const planeEnd = 1 << 16

// latinEnd is where the characters end that texts in English have.
const latinEnd = 0x100

var latin = func() (list [latinEnd]uint8) {
	for r := range rune(latinEnd) {
		list[r] = classify(r)
	}
	return list
}()

// plane is the table. Looking a character up in Unicode's own costs more than all the
// rest of what is done with it, and a text may be made of such.
var plane = sync.OnceValue(func() *[planeEnd]uint8 {
	var list [planeEnd]uint8
	for r := range rune(planeEnd) {
		list[r] = classify(r)
	}
	return &list
})

// class returns what a character is.
func class(r rune) uint8 {
	switch {
	case r < 0:
		return 0
	case r < latinEnd:
		return latin[r]
	case r < planeEnd:
		return plane()[r]
	}
	return classify(r)
}

func classify(r rune) (c uint8) {
	if unicode.IsLetter(r) {
		c |= letter
	}
	if unicode.IsDigit(r) {
		c |= digit
	}
	if unicode.IsMark(r) {
		c |= mark
	}
	if unicode.IsLower(r) {
		c |= lower
	}
	return c
}
