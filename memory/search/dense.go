package search

import (
	"context"
	"fmt"

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
}

const noRow = -1

// withStatement stands for the tx of a vector that came with its statement: it is
// seen wherever the statement is, also by a read that knows the statement earlier
// than it was recorded, by declaration (C-28).
const withStatement = 0

func newDense(m fact.Model) *dense {
	return &dense{model: m, table: vector.NewTable(m.Dim), rowOf: make(map[fact.ID]uint32)}
}

// rowBytes is about what a row costs beside the table.
const rowBytes = 56

func (d *dense) bytes() int64 {
	return d.table.Bytes() + rowBytes*int64(len(d.rowOf)) + 4*int64(cap(d.rows))
}

// statement returns the statement that a document is a piece of.
func (x *Index) statement(ord uint32) fact.ID {
	if first, ok := x.continues[x.ids[ord]]; ok {
		return first
	}
	return x.ids[ord]
}

// arrived is a vector on its way into the index.
type arrived struct {
	statement fact.ID
	tx        uint64
	v         []float32
}

// vectorsAtOnce is how many vectors are taken over while searches wait.
const vectorsAtOnce = 64

// followVectors brings the vectors of a model to the state of a source, or
// further. The documents have been brought there before.
func (x *Index) followVectors(ctx context.Context, from Source, m fact.Model, most int64) error {
	at := from.Position()
	if x.hasVectors(at, m) {
		return nil
	}
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	x.mu.Lock()
	if x.noRoom == m {
		x.mu.Unlock()
		return errTooLarge
	}
	if x.dense == nil || x.dense.model != m {
		x.dense = newDense(m)
		if len(x.docs) > x.closely.exact {
			x.dense.table.EnsureSigns() // as they come, not all at once in the end
		}
	}
	after := x.dense.tx
	x.mu.Unlock()
	if after < at.Tx {
		if err := x.takeVectors(ctx, from, after, most); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.assignRows()
	x.dense.tx = max(x.dense.tx, at.Tx)
	if len(x.docs) > x.closely.exact {
		x.dense.table.EnsureSigns()
	}
	x.denseBytes.Store(x.dense.bytes())
	return nil
}

func (x *Index) hasVectors(at fact.Position, m fact.Model) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.dense != nil && x.dense.model == m && x.dense.tx >= at.Tx && len(x.dense.rows) == len(x.docs)
}

// takeVectors reads the vectors that were set after a tx.
func (x *Index) takeVectors(ctx context.Context, from Source, after uint64, most int64) error {
	batch := make([]arrived, 0, vectorsAtOnce)
	tooMany := false
	err := from.EachVector(ctx, x.scope, x.dense.model, after, func(statement fact.ID, tx uint64, v []float32) bool {
		if batch = append(batch, arrived{statement, tx, v}); len(batch) == vectorsAtOnce {
			tooMany = x.keepVectors(batch) > most
			batch = batch[:0]
		}
		return !tooMany
	})
	if err != nil && ctx.Err() != nil {
		return &Building{Percent: x.followed(from.Position().Tx), Vectors: true, cause: err}
	}
	if err != nil {
		return fmt.Errorf("follow the vectors: %w", err)
	}
	if tooMany {
		x.dropVectors()
		return errTooLarge
	}
	x.keepVectors(batch)
	return nil
}

// followed is through how much of the store vectors were followed, in percent.
func (x *Index) followed(last uint64) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.dense == nil || last == 0 {
		return 0
	}
	return int(min(99*x.dense.tx/last, 99))
}

// dropVectors makes room: from now on words alone find.
func (x *Index) dropVectors() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dense != nil {
		x.dense, x.noRoom = nil, x.dense.model
		x.denseBytes.Store(0)
	}
}

// keepVectors takes vectors of statements over that have a document, and returns
// the size of the index.
func (x *Index) keepVectors(list []arrived) int64 {
	x.addVectors(list)
	return x.size()
}

func (x *Index) addVectors(list []arrived) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.dense
	for _, a := range list {
		if _, there := d.rowOf[a.statement]; there || !x.hasPiece(a.statement) {
			continue
		}
		ord, there := x.byID[a.statement]
		if there && x.docs[ord].firstTx == a.tx {
			a.tx = withStatement
		}
		d.latest = max(d.latest, a.tx)
		row := d.table.Add(a.tx, a.v)
		d.rowOf[a.statement] = row
		if there && int(ord) < len(d.rows) {
			d.rows[ord] = int32(row)
		}
	}
	if n := len(list); n > 0 {
		// What was set up to the tx before is all here, should the reading end now.
		d.tx = max(d.tx, list[n-1].tx-1)
	}
	x.denseBytes.Store(d.bytes())
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
		d.rows = append(d.rows, d.rowAt(x.statement(uint32(ord))))
	}
	for piece, first := range x.continues {
		if ord, there := x.byID[piece]; there {
			d.rows[ord] = d.rowAt(first)
		}
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
		}
	}
}
