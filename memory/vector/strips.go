package vector

import (
	"math/bits"
	"slices"
)

// StripRows is how many rows lie side by side for one group.
const StripRows = 64

// strip tells of StripRows rows in a row. All that are used are of one group, so
// that who compares with a whole group reads few long stretches of memory.
type strip struct {
	used  uint64 // a bit for each row
	group uint32
}

const allUsed = 1<<StripRows - 1

// take finds a row for a vector of a group.
func (t *Table) take(group uint32) uint32 {
	list := t.room[group]
	if len(list) == 0 {
		list = append(list, t.begin(group))
	}
	at := list[len(list)-1]
	s := &t.strips[at]
	slot := uint32(bits.TrailingZeros64(^s.used))
	s.used |= 1 << slot
	if s.used == allUsed {
		list = list[:len(list)-1]
	}
	t.room[group] = list
	return at*StripRows + slot
}

// begin gives a strip to a group: one that nobody has any more, or a new one.
func (t *Table) begin(group uint32) uint32 {
	if n := len(t.spare); n > 0 {
		at := t.spare[n-1]
		t.spare = t.spare[:n-1]
		t.strips[at].group = group
		return at
	}
	t.strips = append(t.strips, strip{group: group})
	t.rows = append(t.rows, make([]row, StripRows)...)
	t.codes = append(t.codes, make([]int8, StripRows*t.dim)...)
	if t.turn != nil {
		t.signs = append(t.signs, make([]uint64, StripRows*t.words)...)
		t.lifts = append(t.lifts, make([]float32, StripRows)...)
	}
	return uint32(len(t.strips) - 1)
}

// leave gives a row back, and its strip where that was the last one.
func (t *Table) leave(row uint32) {
	at := row / StripRows
	s := &t.strips[at]
	list := t.room[s.group]
	if s.used == allUsed {
		list = append(list, at)
	}
	s.used &^= 1 << (row % StripRows)
	if s.used == 0 {
		i := slices.Index(list, at)
		list = slices.Delete(list, i, i+1)
		t.spare = append(t.spare, at)
	}
	t.room[s.group] = list
	if len(list) == 0 {
		delete(t.room, s.group)
	}
}
