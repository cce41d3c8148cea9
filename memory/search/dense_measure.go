package search

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// measure lists the candidates and tells the cosine of each. It works out what
// cosines are on average, and how far they spread.
func (s *denseSearch) measure(ctx context.Context, mode Mode) error {
	if err := s.gather(ctx); err != nil {
		return err
	}
	if err := s.compare(ctx); err != nil {
		return err
	}
	if mode != Vector {
		s.standardiseCosines()
	}
	return nil
}

// noWindow is the number of none.
const noWindow = ^uint32(0)

// gather lists the documents that pass every filter.
func (s *denseSearch) gather(ctx context.Context) error {
	c := s.columns
	if s.only == nil {
		s.scanned = int(s.bound)
		return s.gatherAll(ctx)
	}
	s.scanned = len(s.only)
	if !s.bySubject {
		return s.gatherRuns(ctx)
	}
	at, pass := noWindow, false
	for i, ord := range s.only {
		if i%lookUp == lookUp-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		if ord >= s.bound {
			break
		}
		if w := ord >> windowBits; w != at {
			at, pass = w, s.calmPass(w)
		}
		if pass && s.x.calm[at].docs.has(ord%windowSize) || s.passes(ord) {
			c.ords = append(c.ords, ord)
		}
	}
	return nil
}

// gatherAll looks at all documents, each window's by itself.
func (s *denseSearch) gatherAll(ctx context.Context) error {
	c := s.columns
	c.ords = slices.Grow(c.ords, int(s.bound))[:s.bound]
	counts := make([]int, (s.bound+windowSize-1)>>windowBits)
	shared(len(counts), shareSize/windowSize, func(from, to int) {
		for w := from; w < to && (w%8 < 7 || ctx.Err() == nil); w++ {
			counts[w] = s.gatherWindow(uint32(w), c.ords[w<<windowBits:min(int(s.bound), (w+1)<<windowBits)])
		}
	})
	n := 0
	for w, count := range counts {
		if at := w << windowBits; at > n {
			copy(c.ords[n:], c.ords[at:at+count])
		}
		n += count
	}
	c.ords = c.ords[:n]
	return ctx.Err()
}

// row returns where the vector of a document lies, as of the record time read.
func (s *denseSearch) row(ord uint32) int32 {
	d := s.x.dense
	if int(ord) >= len(d.rows) {
		return noRow
	}
	row := d.rows[ord]
	if row != noRow && d.latest > s.want.Tx && d.table.Tx(uint32(row)) > s.want.Tx {
		return noRow
	}
	return row
}

// compare tells the cosine of every candidate or, where they are too many, a
// guess at it. Large numbers are shared among a few goroutines.
func (s *denseSearch) compare(ctx context.Context) error {
	t, c := s.x.dense.table, s.columns
	s.query = t.NewQuery(s.want.Vector)
	if s.guessed = !s.want.Exact && len(c.ords) > s.x.closely.exact && t.HasSigns(); s.guessed {
		t.ReadyToGuess(s.query)
	}
	c.cosines = slices.Grow(c.cosines, len(c.ords))[:len(c.ords)]
	var missing atomic.Int64
	size := shareSize
	if len(c.ords) <= aloneSize {
		size = aloneSize
	}
	shared(len(c.ords), size, func(from, to int) {
		missing.Add(int64(s.compareSome(ctx, from, to)))
	})
	s.missing = int(missing.Load())
	return ctx.Err()
}

// atOnce is how many candidates are compared in one go: the processor fetches them
// side by side.
const atOnce = 256

// compareSome compares a part of the candidates, until the context ends, and tells how
// many have no vector.
func (s *denseSearch) compareSome(ctx context.Context, from, to int) (missing int) {
	c := s.columns
	for n := 0; from < to; n++ {
		if n%(lookUp/atOnce) == lookUp/atOnce-1 && ctx.Err() != nil {
			return missing
		}
		end := min(to, from+atOnce)
		var list [atOnce]int32
		rows := list[:end-from]
		if len(c.rows) > 0 {
			rows = c.rows[from:end]
		} else {
			s.lookUpRows(c.ords[from:end], rows)
		}
		missing += s.compareFew(rows, c.cosines[from:end], s.guessed)
		from = end
	}
	return missing
}

func (s *denseSearch) lookUpRows(ords []uint32, rows []int32) {
	for i, ord := range ords {
		rows[i] = s.row(ord)
	}
}

// compareFew compares rows, or guesses, and tells how many are none.
func (s *denseSearch) compareFew(rows []int32, cosines []float64, guess bool) (missing int) {
	for _, row := range rows {
		if row == noRow {
			missing++
		}
	}
	if t := s.x.dense.table; guess {
		t.Guesses(s.query, rows, cosines)
	} else {
		t.Nears(s.query, rows, cosines)
	}
	return missing
}

// standardiseCosines measures cosines in standard deviations from their mean over
// the candidates, as the other parts of a fused score are.
func (s *denseSearch) standardiseCosines() {
	sum, squares, n := 0.0, 0.0, 0.0
	for _, cosine := range s.columns.cosines {
		if cosine == cosine {
			sum += cosine
			squares += float64(cosine * cosine)
			n++
		}
	}
	s.scale = 0
	if n == 0 {
		return
	}
	s.mean = sum / n
	if spread := math.Sqrt(max(0, squares/n-float64(s.mean*s.mean))); spread > leastSpread {
		s.scale = 1 / spread
	}
}

// shared has the numbers up to n worked off in parts of a size by a few goroutines that
// end with it. Whoever is free takes the next part: it may be long until another
// goroutine runs, and most is done by then.
func shared(n, size int, some func(from, to int)) {
	if n <= size {
		some(0, n)
		return
	}
	var taken atomic.Int64
	work := func() {
		for {
			to := int(taken.Add(int64(size)))
			if to-size >= n {
				return
			}
			some(to-size, min(n, to))
		}
	}
	var others sync.WaitGroup
	for range min(maxWorkers, runtime.GOMAXPROCS(0), (n+size-1)/size) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
