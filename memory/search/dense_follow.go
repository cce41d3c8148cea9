package search

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/vector"
)

// vectorsAtOnce is how many vectors are taken over in one go, and leastCoded how many
// of them are worth a goroutine of their own.
const (
	vectorsAtOnce = 256
	leastCoded    = 64
)

// followVectors brings the vectors of a model to the state of a source, or
// further. The documents have been brought there before. Who is in no hurry gives
// wanted, lets others have the index in between, and ends when it is wanted no longer.
func (x *Index) followVectors(ctx context.Context, from Source, m fact.Model, most int64, wanted func() bool) error {
	at := from.Position()
	if x.hasVectors(at, m) {
		return nil
	}
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return x.late(at, ctx.Err())
	}
	in := &intake{x: x, most: most, wanted: wanted, turn: true}
	defer in.leave()
	if err := in.begin(m); err != nil {
		return err
	}
	if in.d.tx < at.Tx { // only who has the turn changes it
		if err := in.take(ctx, from, in.d.tx); err != nil {
			return err
		}
	}
	return in.end(at)
}

func (x *Index) hasVectors(at fact.Position, m fact.Model) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.dense != nil && x.dense.model == m && x.dense.tx >= at.Tx && len(x.dense.rows) == len(x.docs)
}

// late tells that the vectors were not there in time, and how far they are.
func (x *Index) late(last fact.Position, cause error) *Building {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := &Building{Vectors: true, cause: cause}
	if x.dense != nil && last.Tx > 0 {
		b.Percent = int(min(99*x.dense.tx/last.Tx, 99))
	}
	return b
}

// intake takes vectors over into an index.
type intake struct {
	x      *Index
	d      *dense
	most   int64
	wanted func() bool // nil = it is in a hurry
	turn   bool        // whether it has the index's turn
	batch  []arrived
	coded  []vector.Coded
}

// arrived is a vector on its way into the index.
type arrived struct {
	statement fact.ID
	tx        uint64
	v         []float32
}

// leave lets others bring the index up to date.
func (in *intake) leave() {
	if in.turn {
		<-in.x.turn
		in.turn = false
	}
}

// makeWay lets those go first who wait for the turn.
func (in *intake) makeWay(ctx context.Context) error {
	switch {
	case in.wanted == nil:
		return nil
	case !in.wanted():
		return errBegunAnew
	}
	in.leave()
	select {
	case in.x.turn <- struct{}{}:
		in.turn = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (in *intake) begin(m fact.Model) error {
	x := in.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.noRoom == m {
		return errTooLarge
	}
	if x.dense == nil || x.dense.model != m {
		x.dense = newDense(m)
		if len(x.docs) > x.closely.exact {
			x.dense.table.EnsureSigns() // as they come, not all at once in the end
		}
	}
	in.d = x.dense
	return nil
}

// take reads the vectors that were set after a tx.
func (in *intake) take(ctx context.Context, from Source, after uint64) error {
	var failed error
	err := from.EachVector(ctx, in.x.scope, in.d.model, after, func(statement fact.ID, tx uint64, v []float32) bool {
		if in.batch = append(in.batch, arrived{statement, tx, v}); len(in.batch) == vectorsAtOnce {
			if failed = in.keep(); failed == nil {
				failed = in.makeWay(ctx)
			}
		}
		return failed == nil
	})
	ended := ctx.Err()
	if failed == nil && in.turn {
		failed = in.keep()
	}
	switch {
	case (err != nil || failed != nil) && ended != nil:
		return in.x.late(from.Position(), ended)
	case failed != nil:
		return failed
	case err != nil:
		return fmt.Errorf("follow the vectors: %w", err)
	}
	return nil
}

// keep takes over what has arrived. The vectors are brought into their form before
// searches have to wait.
func (in *intake) keep() error {
	x, last := in.x, len(in.batch)-1
	through := uint64(0)
	if last >= 0 {
		through = in.batch[last].tx - 1
	}
	in.dropKnown()
	n := len(in.batch)
	for len(in.coded) < n {
		in.coded = append(in.coded, vector.Coded{})
	}
	shared(n, leastCoded, func(first, end int) {
		for i := first; i < end; i++ {
			in.d.table.Code(&in.coded[i], in.batch[i].v)
		}
	})
	x.mu.Lock()
	if x.dense != in.d {
		x.mu.Unlock()
		return errBegunAnew
	}
	for i := range in.batch {
		x.keepVector(&in.batch[i], &in.coded[i])
	}
	// What was set up to the tx before is all here, should the reading end now.
	in.d.tx = max(in.d.tx, through)
	x.denseBytes.Store(in.d.bytes())
	x.mu.Unlock()
	clear(in.batch)
	in.batch = in.batch[:0]
	if x.size() > in.most {
		x.dropVectors()
		return errTooLarge
	}
	return nil
}

// dropKnown leaves out what another reader was quicker to take over.
func (in *intake) dropKnown() {
	in.x.mu.RLock()
	defer in.x.mu.RUnlock()
	in.batch = slices.DeleteFunc(in.batch, func(a arrived) bool {
		_, there := in.d.rowOf[a.statement]
		return there
	})
}

// keepVector takes over the vector of a statement that has a document. One that has no
// direction is as none. Callers hold mu.
func (x *Index) keepVector(a *arrived, c *vector.Coded) {
	d := x.dense
	if _, there := d.rowOf[a.statement]; there || !c.Usable() || !x.hasPiece(a.statement) {
		return
	}
	ord, there := x.byID[a.statement]
	if there && x.docs[ord].firstTx == a.tx {
		a.tx = withStatement
	}
	d.latest = max(d.latest, a.tx)
	row := d.table.Put(a.tx, x.together(ord, there), c)
	d.rowOf[a.statement] = row
	if there && int(ord) < len(d.rows) {
		d.setRow(x, ord, int32(row))
	}
}

// leastTogether is how many facts a predicate has whose vectors lie together: so many
// that what its last strip has room for is little beside them.
const leastTogether = 4 * vector.StripRows

// together tells with which others a document's vector lies: those of its predicate,
// by which searches are narrowed down most, unless these are few.
func (x *Index) together(ord uint32, there bool) uint32 {
	if !there {
		return 0
	}
	n := x.docs[ord].predicate
	if len(x.predicates.lists[n].ords) < leastTogether {
		return 0
	}
	return 1 + n
}

// end settles that all vectors of a state are there.
func (in *intake) end(at fact.Position) error {
	x := in.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dense != in.d {
		return errBegunAnew
	}
	x.assignRows()
	in.d.tx = max(in.d.tx, at.Tx)
	if len(x.docs) > x.closely.exact {
		in.d.table.EnsureSigns()
	}
	x.denseBytes.Store(in.d.bytes())
	return nil
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
