package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"abagraph/fact"
	"abagraph/memory/vector"
)

// Dense asks for the documents whose vectors are near one.
type Dense struct {
	Model  fact.Model
	Vector []float32 // of length 1
	// Tx is the record time read: vectors that were set later do not count.
	Tx uint64
	// Exact compares with every candidate exactly, however many there are.
	Exact bool
	// Cosines are what a search for the same has found out; of use to a Scorer.
	Cosines Cosines
}

// Cosines tell how a vector's cosines with the candidates are standardised.
type Cosines struct {
	mean, scale float64
	known       bool
	exact       map[fact.ID]float64 // of those that were looked at exactly, by statement
}

// Bounds of a search by vectors.
const (
	// lookClosely is how many candidates are compared closely where there are too
	// many for all, one in lookShare where that is more, and lookPerHit how many more
	// for each hit asked for.
	lookClosely = 4_096
	lookShare   = 48
	lookPerHit  = 32
	// lookUp is how many documents are looked at between two looks at the context.
	lookUp = 4_096
	// maxWorkers share what is to do for many candidates, so many at a time.
	maxWorkers = 4
	shareSize  = 4_096
	// aloneSize is how many candidates are compared before another goroutine would have
	// begun.
	aloneSize   = 16_384
	leastSpread = 1e-9
	// rounding is more than what sums of parts lose.
	rounding = 1e-9
)

// closely says how many candidates are compared exactly, however they guess, and
// how many where there are more; tests lower it.
type closely struct{ exact, look, perHit int }

// denseSearch is a search in which a vector counts. Of the candidates, which are
// the documents that pass every filter, it keeps columns.
type denseSearch struct {
	*searcher
	want    *Dense
	query   *vector.Query
	columns *columns
	guessed bool
	// A cosine counts as (cosine - mean) * scale.
	mean, scale float64
	missing     int  // candidates without a vector
	bare        bool // scores are cosines, and nothing else
	final       []candidate
	full        *fulls // the vectors that are kept in full
	mostFull    int
}

// columns are used again by later searches: they may be large.
type columns struct {
	ords    []uint32
	rows    []int32   // of their vectors; empty where they have to be looked up
	cosines []float64 // NaN where there is no vector
	others  []float64 // what the other parts give; -Inf = nothing at all
	values  []float64 // both together, where there are very many
}

// candidate is a document that may be among the best.
type candidate struct {
	ord    uint32
	row    int32 // noRow = its statement has no vector
	others float64
	cosine float64
	within float64 // how far the true cosine is from it at most
}

// searchDense finds the best documents for a query with a vector. Callers hold
// mu; full vectors are read from the source.
func (x *Index) searchDense(ctx context.Context, from Source, q *Query) (*Answer, error) {
	s := x.newDenseSearch(q)
	defer s.done()
	answer := &Answer{Corpus: s.count}
	if !s.restrict(x, &q.Filter) {
		return answer, nil
	}
	if err := s.measure(ctx, q.Mode); err != nil {
		return nil, err
	}
	answer.Scanned, answer.Candidates, answer.Missing = s.scanned, len(s.columns.ords), s.missing
	answer.Cosines = Cosines{mean: s.mean, scale: s.scale, known: true}
	if q.Top == 0 {
		return answer, nil
	}
	if err := s.addOthers(ctx, q.Mode); err != nil {
		return nil, err
	}
	pool := x.pool(q)
	s.choose(q, pool)
	if err := s.resolve(ctx, from, pool); err != nil {
		return nil, err
	}
	answer.Cosines.exact = s.exactCosines()
	if err := s.answer(ctx, from, q, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// exactCosines are those of the candidates that are left, which are exact by now.
func (s *denseSearch) exactCosines() map[fact.ID]float64 {
	exact := make(map[fact.ID]float64, len(s.final))
	for i := range s.final {
		if c := &s.final[i]; c.row != noRow {
			exact[s.x.statement(c.ord)] = c.cosine
		}
	}
	return exact
}

func (x *Index) newDenseSearch(q *Query) *denseSearch {
	s := &denseSearch{searcher: &searcher{plan: x.prepare(q)}, want: q.Dense, scale: 1}
	if d := x.dense; d != nil {
		s.full, s.mostFull = d.full, d.mostFull()
	}
	if kept, ok := x.scratch.Get().(*columns); ok {
		s.columns = kept
	} else {
		s.columns = &columns{}
	}
	c := s.columns
	c.ords, c.rows, c.cosines, c.others = c.ords[:0], c.rows[:0], c.cosines[:0], c.others[:0]
	return s
}

func (s *denseSearch) done() { s.x.scratch.Put(s.columns) }

// part is what a cosine gives to a score; what has no vector is taken for average.
func (s *denseSearch) part(cosine float64) float64 {
	if cosine != cosine {
		return 0
	}
	return (cosine - s.mean) * s.scale
}

// choose leaves the candidates that may be among the best: all whose greatest
// possible score is not below the least possible one of as many others as are needed.
func (s *denseSearch) choose(q *Query, top int) {
	s.shortlist(top)
	lowest := best{most: top, min: math.Inf(-1)}
	for i := range s.final {
		c := &s.final[i]
		if low := (scored{c.ord, s.value(c) - c.within*s.scale}); lowest.wants(low) {
			lowest.add(low)
		}
	}
	least := math.Inf(-1)
	if top == q.Top {
		least = q.MinScore + s.shiftSum()
	}
	if len(lowest.list) == top {
		least = max(least, lowest.list[0].score)
	}
	s.final = slices.DeleteFunc(s.final, func(c candidate) bool {
		return s.value(&c)+c.within*s.scale < least-rounding
	})
}

// candidate takes a candidate out of its columns, with the bounds of its cosine.
func (s *denseSearch) candidate(i int) candidate {
	c := candidate{ord: s.columns.ords[i], row: noRow, others: s.columns.others[i], cosine: s.columns.cosines[i]}
	if c.cosine == c.cosine {
		c.row = s.row(c.ord)
		c.within = s.x.dense.table.Within(s.query, uint32(c.row))
	}
	return c
}

func (s *denseSearch) value(c *candidate) float64 { return c.others + s.part(c.cosine) }

// resolveAtOnce is how many full vectors are read at a time at least.
const resolveAtOnce = 4

// resolve reads the full vectors of the candidates, those that could score most
// first, until none of the others could be among the best.
func (s *denseSearch) resolve(ctx context.Context, from Source, top int) error {
	high := func(c *candidate) float64 { return s.value(c) + c.within*s.scale }
	slices.SortFunc(s.final, func(a, b candidate) int { return cmp.Or(cmp.Compare(high(&b), high(&a)), cmp.Compare(b.ord, a.ord)) })
	known := best{most: top, min: math.Inf(-1)}
	list := s.final[:0]
	for rest := s.final; len(rest) > 0; {
		if len(known.list) == top && high(&rest[0]) < known.list[0].score-rounding {
			break
		}
		some := rest[:min(len(rest), max(top-len(known.list), resolveAtOnce))]
		rest = rest[len(some):]
		if err := s.read(ctx, from, some); err != nil {
			return err
		}
		for _, c := range some {
			if c.row != noRow && !(math.Abs(c.cosine) < 2) {
				continue // gone in the state that is open, or not a number
			}
			list = append(list, c)
			if one := (scored{c.ord, s.value(&c)}); known.wants(one) {
				known.add(one)
			}
		}
	}
	s.final = list
	return nil
}

// read gives candidates their true cosines.
func (s *denseSearch) read(ctx context.Context, from Source, list []candidate) error {
	want, of := make([]fact.VectorAt, 0, len(list)), make([]int, 0, len(list))
	for i := range list {
		if list[i].row != noRow {
			want, of = append(want, s.x.vectorAt(list[i].ord, list[i].row)), append(of, i)
		}
	}
	cosines, err := s.exact(ctx, from, want)
	for i, cosine := range cosines {
		c := &list[of[i]]
		c.cosine, c.within = cosine, 0
	}
	return err
}

// readAtOnce is how many full vectors are worth a goroutine of their own.
const readAtOnce = 32

// exact tells the cosines of full vectors; NaN where there is none. Those that are not
// kept are read.
func (s *denseSearch) exact(ctx context.Context, from Source, want []fact.VectorAt) ([]float64, error) {
	cosines := make([]float64, len(want))
	var lack []int
	for i := range want {
		if v := s.full.get(want[i].Statement); v != nil {
			cosines[i] = s.query.Exact(v)
		} else {
			lack = append(lack, i)
		}
	}
	return cosines, s.readFull(ctx, from, want, lack, cosines)
}

// readFull reads the full vectors at some places of a list, and tells their cosines.
func (s *denseSearch) readFull(ctx context.Context, from Source, list []fact.VectorAt, some []int, cosines []float64) error {
	want := make([]fact.VectorAt, len(some))
	for i, at := range some {
		want[i] = list[at]
	}
	var mu sync.Mutex
	var failed error
	shared(len(want), readAtOnce, func(first, end int) {
		err := from.Vectors(ctx, s.x.scope, s.want.Model, want[first:end], func(i int, v []float32) {
			i += first
			cosines[some[i]] = math.NaN()
			if v != nil {
				cosines[some[i]] = s.query.Exact(v)
				s.full.keep(want[i].Statement, v, s.mostFull)
			}
		})
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed = err
		}
	})
	if failed != nil {
		return fmt.Errorf("read vectors: %w", failed)
	}
	return nil
}

// vectorAt tells where the vector of a document lies, which is in a row.
func (x *Index) vectorAt(ord uint32, row int32) fact.VectorAt {
	statement := x.statement(ord)
	if statement == x.ids[ord] && x.dense.table.Tx(uint32(row)) == withStatement {
		return fact.VectorAt{Statement: statement, Tx: x.docs[ord].firstTx}
	}
	return fact.VectorAt{Statement: statement, Tx: x.vectorTx(statement, uint32(row))}
}

// vectorTx returns the tx at which the vector of a row was set; 0 where that is
// not known.
func (x *Index) vectorTx(statement fact.ID, row uint32) uint64 {
	if tx := x.dense.table.Tx(row); tx != withStatement {
		return tx
	}
	if ord, there := x.byID[statement]; there {
		return x.docs[ord].firstTx
	}
	return 0
}

// answer makes the hits out of the best of what is left.
func (s *denseSearch) answer(ctx context.Context, from Source, q *Query, answer *Answer) error {
	shift := s.shiftSum()
	slices.SortFunc(s.final, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(s.value(&b), s.value(&a)), cmp.Compare(b.ord, a.ord))
	})
	pool := s.x.pool(q)
	list := make([]heard, 0, min(pool, len(s.final)))
	for i := range s.final[:min(pool, len(s.final))] {
		list = append(list, s.heard(&s.final[i], shift))
	}
	list, err := s.x.converse(q, list, -shift, func(ords []uint32) ([]heard, error) { return s.judged(ctx, from, ords) })
	if err != nil {
		return err
	}
	answer.Hits = s.x.hits(q, list)
	return nil
}

func (s *denseSearch) heard(c *candidate, shift float64) heard {
	why := s.why(c.ord)
	why.Vector = s.part(c.cosine) + 0 // -0 becomes 0
	return heard{c.ord, s.value(c) - shift, why}
}

// judged scores documents one by one, those that pass the filters.
func (s *denseSearch) judged(ctx context.Context, from Source, ords []uint32) ([]heard, error) {
	shift := s.shiftSum()
	var list []candidate
	for _, ord := range ords {
		if ord >= s.bound || !s.passes(ord) {
			continue
		}
		score, _ := s.weigh(ord)
		list = append(list, candidate{ord: ord, row: s.row(ord), others: score + shift, cosine: math.NaN()})
	}
	if err := s.read(ctx, from, list); err != nil {
		return nil, err
	}
	more := make([]heard, len(list))
	for i := range list {
		more[i] = s.heard(&list[i], shift)
	}
	return more, nil
}
