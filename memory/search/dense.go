package search

import (
	"abagraph/fact"
	"abagraph/memory/vector"
)

// ExactCandidates is up to how many documents a vector is compared with exactly
// in the present; reads of the past always are (C-57).
const ExactCandidates = 50_000

// dense is what an index knows of the stored vectors of one model.
type dense struct {
	model  fact.Model
	tx     uint64 // through which vectors were followed
	latest uint64 // the tx of the latest vector that came after its statement
	table  *vector.Table
	rowOf  map[fact.ID]uint32 // by statement
	rows   []int32            // by document; noRow where its statement has none
	lines  [][]int32          // the same by predicate, in the order of its list
	full   *fulls
}

const noRow = -1

// withStatement stands for the tx of a vector that came with its statement: it is
// seen wherever the statement is, also by a read that knows the statement earlier
// than it was recorded, by declaration (C-28).
const withStatement = 0

func newDense(m fact.Model) *dense {
	return &dense{model: m, table: vector.NewTable(m.Dim), rowOf: make(map[fact.ID]uint32), full: newFulls()}
}

// rowBytes is about what a row costs beside the table, and fullBytes what a vector that
// is kept in full costs beside its numbers.
const (
	rowBytes  = 56
	fullBytes = 128
)

func (d *dense) bytes() int64 {
	return d.table.Bytes() + rowBytes*int64(len(d.rowOf)) + 8*int64(cap(d.rows)) + (4*int64(d.model.Dim)+fullBytes)*int64(d.mostFull())
}

// mostFull is how many vectors are kept in full at most.
func (d *dense) mostFull() int { return len(d.rowOf) / oneFullIn }

// statement returns the statement that a document is a piece of.
func (x *Index) statement(ord uint32) fact.ID {
	if first, ok := x.continues[x.ids[ord]]; ok {
		return first
	}
	return x.ids[ord]
}

func (x *Index) hasPiece(statement fact.ID) bool {
	if _, there := x.byID[statement]; there {
		return true
	}
	for _, first := range x.continues {
		if first == statement {
			return true
		}
	}
	return false
}

// assignRows looks up the rows of the documents that have come, and of all
// continuations: their statement may have got its vector since.
func (x *Index) assignRows() {
	d := x.dense
	for ord := len(d.rows); ord < len(x.docs); ord++ {
		row := d.rowAt(x.statement(uint32(ord)))
		d.rows = append(d.rows, row)
		d.line(x.docs[ord].predicate, row)
	}
	for piece, first := range x.continues {
		if ord, there := x.byID[piece]; there {
			d.setRow(x, ord, d.rowAt(first))
		}
	}
}

// setRow gives a document that had been looked up another row.
func (d *dense) setRow(x *Index, ord uint32, row int32) {
	if d.rows[ord] == row {
		return
	}
	d.rows[ord] = row
	n := x.docs[ord].predicate
	d.lines[n][x.predicates.lists[n].below(ord)] = row
}

// line appends a row to those of a predicate.
func (d *dense) line(predicate uint32, row int32) {
	if more := int(predicate) + 1 - len(d.lines); more > 0 {
		d.lines = append(d.lines, make([][]int32, more)...)
	}
	d.lines[predicate] = append(d.lines[predicate], row)
}

// lined lists the rows of a predicate's documents, in the order of its list.
func (d *dense) lined(predicate uint32) []int32 {
	if int(predicate) >= len(d.lines) {
		return nil
	}
	return d.lines[predicate]
}

// lineUp makes the lines anew, after documents were renumbered.
func (d *dense) lineUp(x *Index) {
	d.lines = nil
	for ord, row := range d.rows {
		d.line(x.docs[ord].predicate, row)
	}
}

func (d *dense) rowAt(statement fact.ID) int32 {
	if row, there := d.rowOf[statement]; there {
		return int32(row)
	}
	return noRow
}

// forget wipes the vectors of statements of which no document is left, and
// renumbers the others. It is called after the documents were.
func (d *dense) forget(x *Index, lost []fact.ID, renumbered []uint32) {
	n := 0
	for ord, to := range renumbered {
		if ord < len(d.rows) && to != gone {
			d.rows[to] = d.rows[ord]
			n++
		}
	}
	d.rows = d.rows[:n]
	for _, statement := range lost {
		row, there := d.rowOf[statement]
		if there && !x.hasPiece(statement) {
			d.table.Remove(row)
			delete(d.rowOf, statement)
			d.full.drop(statement)
		}
	}
}
