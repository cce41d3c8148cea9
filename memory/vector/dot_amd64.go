package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

const (
	// inOneTurn is how many codes the processor's vector unit takes in one turn, and
	// inWideTurn how many where it is wide.
	inOneTurn  = 32
	inWideTurn = 64
	// ahead is how many rows before its turn a row is asked for, since rows may lie
	// anywhere, and fetched how many of its codes: the processor foresees the rest.
	ahead   = 32
	fetched = 512
)

// dots sums the products of the codes of the rows at the beginning of a list, as many
// as there is room for, with those of a query. The sums are of whole numbers, and so
// the same however they are added up.
func (t *Table) dots(q *Query, list []int32, to []int32) {
	wide := hasVNNI && t.dim >= inWideTurn
	n := t.dim &^ (inOneTurn - 1)
	if wide {
		n = t.dim &^ (inWideTurn - 1)
	}
	if n == 0 || len(to) == 0 || !cpu.X86.HasAVX2 {
		t.dotsPlain(q, list, to)
		return
	}
	rows := list[:len(to)]
	for _, at := range rows {
		if at >= 0 {
			_ = t.rows[at] // what the assembly reads is there
		}
	}
	of := q.codes[:t.dim]
	if wide {
		dotsVNNI(unsafe.SliceData(t.codes), t.dim, &of[0], &rows[0], len(rows), len(list), &to[0])
	} else {
		dotsAVX2(unsafe.SliceData(t.codes), t.dim, &of[0], &rows[0], len(rows), len(list), &to[0])
	}
	if n == t.dim {
		return
	}
	for i, at := range rows {
		if at >= 0 {
			to[i] += dotPlain(of[n:], t.of(uint32(at))[n:])
		}
	}
}

// dotsAVX2 sums the products of the codes of n of the rows left, n being at least 1,
// up to a multiple of inOneTurn, of which dim has one. Of the rows behind those it
// has some fetched.
//
//go:noescape
func dotsAVX2(codes *int8, dim int, of *int16, rows *int32, n, left int, to *int32)

// hasVNNI tells whether the processor multiplies 32 pairs of codes at a time and adds
// the products up in the same turn.
var hasVNNI = cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512BW && cpu.X86.HasAVX2

// dotsVNNI is dotsAVX2 up to a multiple of inWideTurn, of which dim has one.
//
//go:noescape
func dotsVNNI(codes *int8, dim int, of *int16, rows *int32, n, left int, to *int32)

// hasVPOPCNT tells whether the processor counts the bits of 256 at a time.
var hasVPOPCNT = cpu.X86.HasAVX512VPOPCNTDQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX2

// tally tallies the rows at the beginning of a list, as many as there is room for.
func (t *Table) tally(q *Query, list []int32, to []tally) {
	rows := list[:len(to)]
	for _, at := range rows {
		if at >= 0 {
			_ = t.rows[at] // what the assembly reads is there
		}
	}
	switch {
	case len(rows) == 0 || !cpu.X86.HasPOPCNT:
		t.tallyPlain(q.planes, rows, to)
	case hasVPOPCNT && len(q.wide) == planes*t.words:
		tallyVPOPCNT(unsafe.SliceData(t.signs), t.words, &q.wide[0], &rows[0], len(rows), len(list), &to[0])
	default:
		of := q.planes[:planes*t.words]
		tallyPOPCNT(unsafe.SliceData(t.signs), t.words, &of[0], &rows[0], len(rows), len(list), &to[0])
	}
}

// tallyVPOPCNT is tallyPOPCNT by wide planes, for a number of words that goes up in
// wideWords.
//
//go:noescape
func tallyVPOPCNT(signs *uint64, words int, of *uint64, rows *int32, n, left int, to *tally)

// tallyPOPCNT tallies n of the rows left, of so many words; all three are at least 1.
// Of the rows behind those it has some fetched.
//
//go:noescape
func tallyPOPCNT(signs *uint64, words int, of *uint64, rows *int32, n, left int, to *tally)
