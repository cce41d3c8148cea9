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
