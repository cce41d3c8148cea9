package search

import (
	"context"
	"slices"
)

// runSize is how many documents of a predicate, one after the other in its list, are
// judged together.
const runSize = 64

// run tells of the calm ones among runSize documents of a predicate.
type run struct {
	docs uint64 // a bit for each
	calmest
}

// runs are all of one predicate. What a window holds of a rare predicate is little, and
// lies far apart: a filter by it reads these in a row.
type runs struct {
	docs int
	list []run
}

// noteRun takes the next document of its predicate into the record.
func (x *Index) noteRun(d *doc, calm bool) {
	if more := int(d.predicate) + 1 - len(x.runs); more > 0 {
		x.runs = append(x.runs, make([]runs, more)...)
	}
	r := &x.runs[d.predicate]
	if r.docs%runSize == 0 {
		r.list = append(r.list, run{calmest: noneCalm})
	}
	if calm {
		last := &r.list[len(r.list)-1]
		last.docs |= 1 << (r.docs % runSize)
		last.include(d)
	}
	r.docs++
}

// disturbRun notes that a document is calm no longer.
func (x *Index) disturbRun(ord uint32) {
	n := x.docs[ord].predicate
	at := x.predicates.lists[n].below(ord)
	x.runs[n].list[at/runSize].docs &^= 1 << (at % runSize)
}

// gatherRuns lists the documents of a predicate that pass every filter, with the rows
// of their vectors, unless some of these may be too new.
func (s *denseSearch) gatherRuns(ctx context.Context) error {
	end, _ := slices.BinarySearch(s.only, s.bound)
	rows := s.x.dense.lined(s.predicate)
	if s.x.dense.latest > s.want.Tx || len(rows) < end {
		rows = nil
	}
	list := s.x.runs[s.predicate].list
	for from := 0; from < end; from += runSize {
		if from%lookUp == lookUp-runSize && ctx.Err() != nil {
			return ctx.Err()
		}
		to := min(end, from+runSize)
		r, calm := &list[from/runSize], uint64(0)
		if r.pass(s.filter) {
			calm = r.docs
		}
		if calm == ^uint64(0) {
			s.columns.take(s.only, rows, from, to)
			continue
		}
		for at := from; at < to; at++ {
			if calm>>(at-from)&1 == 1 || s.passes(s.only[at]) {
				s.columns.take(s.only, rows, at, at+1)
			}
		}
	}
	return nil
}

// take takes a stretch of a list, with its rows where these are known.
func (c *columns) take(ords []uint32, rows []int32, from, to int) {
	c.ords = append(c.ords, ords[from:to]...)
	if rows != nil {
		c.rows = append(c.rows, rows[from:to]...)
	}
}
