package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestEveryProcessorTalliesTheSame: whatever a processor can do, the tallies are those
// of the plain loop.
func TestEveryProcessorTalliesTheSame(t *testing.T) {
	if !cpu.X86.HasPOPCNT {
		t.Log("this processor counts no bits by itself: only the plain loop is there")
		return
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, dim := range []int{64, 100, 256, 700, 1536} {
		table := NewTable(dim)
		table.EnsureSigns()
		list := cloud(rnd, 30, dim, 3, 1)
		for _, v := range list {
			add(table, 1, v)
		}
		q := ready(table, list[0])
		rows := make([]int32, 40)
		for i := range rows {
			rows[i] = int32(rnd.IntN(len(list)+3)) - 3
		}
		want, narrow := make([]tally, 20), make([]tally, 20)
		table.tallyPlain(q.planes, rows, want)
		tallyPOPCNT(&table.signs[0], table.words, &q.planes[0], &rows[0], 20, len(rows), &narrow[0])
		if !slices.Equal(narrow, want) {
			t.Errorf("dimension %d: one word at a time tallies %v, not %v", dim, narrow, want)
		}
		if !hasVPOPCNT || q.wide == nil {
			continue
		}
		wide := make([]tally, 20)
		tallyVPOPCNT(&table.signs[0], table.words, &q.wide[0], &rows[0], 20, len(rows), &wide[0])
		if !slices.Equal(wide, want) {
			t.Errorf("dimension %d: four words at a time tally %v, not %v", dim, wide, want)
		}
	}
}

// TestEveryProcessorAddsUpTheSame: whatever a processor can do, the sums are those of the
// plain loop, with the greatest codes too; what is no row keeps what it had.
func TestEveryProcessorAddsUpTheSame(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Log("this processor adds up one by one: only the plain loop is there")
		return
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	const count = 50
	for _, dim := range []int{64, 128, 192, 256, 1024, 1536, 8192} {
		table, q := NewTable(dim), &Query{codes: make([]int16, dim)}
		table.codes, table.rows = make([]int8, count*dim), make([]row, count)
		for i := range table.codes {
			table.codes[i] = int8(rnd.IntN(2*maxCode+1) - maxCode)
		}
		for i := range q.codes {
			q.codes[i] = int16(rnd.IntN(2*queryCode+1) - queryCode)
			q.codes[i], table.codes[i] = max(q.codes[i], queryCode-1), maxCode // row 0 has nearly the greatest sum
		}
		rows := make([]int32, 80)
		for i := range rows {
			rows[i] = int32(rnd.IntN(count+3)) - 3
		}
		rows[0] = 0
		want, narrow, wide := make([]int32, 40), make([]int32, 40), make([]int32, 40)
		table.dotsPlain(q, rows, want)
		dotsAVX2(&table.codes[0], dim, &q.codes[0], &rows[0], 40, len(rows), &narrow[0])
		if !slices.Equal(narrow, want) {
			t.Errorf("dimension %d: 16 codes at a time add up to %v, not %v", dim, narrow, want)
		}
		if !hasVNNI {
			continue
		}
		dotsVNNI(&table.codes[0], dim, &q.codes[0], &rows[0], 40, len(rows), &wide[0])
		if !slices.Equal(wide, want) {
			t.Errorf("dimension %d: 32 codes at a time add up to %v, not %v", dim, wide, want)
		}
	}
}
