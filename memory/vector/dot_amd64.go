package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// atOnce is how many codes the processor's vector unit takes in one turn.
const atOnce = 32

// dot sums products of codes. The sum is of whole numbers, and so the same
// however it is added up.
func dot(a []int16, b []int8) int32 {
	n := len(b) &^ (atOnce - 1)
	if n == 0 || !cpu.X86.HasAVX2 {
		return dotPlain(a, b)
	}
	a = a[:len(b)]
	return dotAVX2(&a[0], &b[0], n) + dotPlain(a[n:], b[n:])
}

// dotAVX2 sums n products, n being a multiple of atOnce and not 0.
//
//go:noescape
func dotAVX2(a *int16, b *int8, n int) int32

// prefetch asks for the lines of the cache that hold n bytes, n being at least 1.
//
//go:noescape
func prefetch(p unsafe.Pointer, n int)

// Ahead tells the processor that Near will be asked for a row soon, which is no
// faster for rows in order, and much faster for few of many.
func (t *Table) Ahead(at uint32) {
	prefetch(unsafe.Pointer(&t.rows[at]), 1)
	prefetch(unsafe.Pointer(&t.codes[int(at)*t.dim]), t.dim)
}

// hasVPOPCNT tells whether the processor counts the bits of 256 at a time.
var hasVPOPCNT = cpu.X86.HasAVX512VPOPCNTDQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX2

// tally tallies the rows that are none below 0.
func (t *Table) tally(q *Query, rows []int32, to []tally) {
	for _, at := range rows {
		if at >= 0 {
			_ = t.rows[at] // what the assembly reads is there
		}
	}
	to = to[:len(rows)]
	switch {
	case len(rows) == 0 || !cpu.X86.HasPOPCNT:
		t.tallyPlain(q.planes, rows, to)
	case hasVPOPCNT && len(q.wide) == planes*t.words:
		tallyVPOPCNT(unsafe.SliceData(t.signs), t.words, &q.wide[0], &rows[0], &to[0], len(rows))
	default:
		of := q.planes[:planes*t.words]
		tallyPOPCNT(unsafe.SliceData(t.signs), t.words, &of[0], &rows[0], &to[0], len(rows))
	}
}

// tallyVPOPCNT is tallyPOPCNT by wide planes, for a number of words that goes up in
// wideWords.
//
//go:noescape
func tallyVPOPCNT(signs *uint64, words int, of *uint64, rows *int32, to *tally, n int)

// tallyPOPCNT tallies n rows of so many words, both being at least 1.
//
//go:noescape
func tallyPOPCNT(signs *uint64, words int, of *uint64, rows *int32, to *tally, n int)
