package vector

import (
	"math"
	"slices"

	"abagraph/fact"
)

// Table holds vectors of one dimension by row. Rows that are removed are used
// again. Many may read it while none changes it.
type Table struct {
	dim    int
	rows   []row
	codes  []int8  // dim for each row
	most   float32 // the greatest error that a row has had
	strips []strip
	room   map[uint32][]uint32 // by group, the strips that have room
	spare  []uint32            // strips of no group

	// The second form, once EnsureSigns was called.
	turn  *rotation
	signs []uint64 // words for each row
	lifts []float32
	words int
}

// row is what a row has besides its codes: the tx at which it was set, what one
// step of its codes is worth, and how far they are from the vector.
type row struct {
	tx    uint64
	scale float32
	error float32
}

// maxCode is the greatest code.
const maxCode = 127

// NewTable makes a table for vectors of a dimension.
func NewTable(dim int) *Table { return &Table{dim: dim, room: make(map[uint32][]uint32)} }

// Bytes is about how much memory the table takes.
func (t *Table) Bytes() int64 {
	return int64(cap(t.codes)) + 16*int64(cap(t.rows)) + 16*int64(cap(t.strips)) + 8*int64(cap(t.signs)) + 4*int64(cap(t.lifts))
}

// Tx is when a row was set; 0 where it was removed.
func (t *Table) Tx(row uint32) uint64 { return t.rows[row].tx }

// Coded is a vector in the forms that a table keeps. It may be used again.
type Coded struct {
	codes  []int8
	row    row
	signed bool
	signs  []uint64
	lift   float32
	turned []float32
}

// Code brings a unit vector of the table's dimension into the forms that are kept,
// which takes nearly all of the time of keeping it. Several may do so at once, and beside
// readers. One without a direction becomes a row that is near nothing.
func (t *Table) Code(to *Coded, v []float32) {
	to.codes = slices.Grow(to.codes[:0], t.dim)[:t.dim]
	to.row.scale, to.row.error = encode(to.codes, v)
	if to.signed = t.turn != nil; to.signed {
		t.sign(to)
	}
}

// Usable tells whether the vector has a direction; near nothing is one that has none.
func (c *Coded) Usable() bool { return c.row.scale > 0 }

// Put keeps a vector that was coded for this table, set at a tx, and returns its row.
// Vectors of one group lie together.
func (t *Table) Put(tx uint64, group uint32, c *Coded) uint32 {
	at := t.take(group)
	copy(t.of(at), c.codes)
	t.rows[at] = row{tx: tx, scale: c.row.scale, error: c.row.error}
	t.most = max(t.most, c.row.error)
	if t.turn != nil {
		if !c.signed {
			t.sign(c)
		}
		t.keepSigns(at, c)
	}
	return at
}

// Remove wipes a row.
func (t *Table) Remove(at uint32) {
	t.rows[at] = row{}
	clear(t.of(at))
	if t.turn != nil {
		clear(t.signs[int(at)*t.words : (int(at)+1)*t.words])
		t.lifts[at] = 0
	}
	t.leave(at)
}

func (t *Table) of(at uint32) []int8 {
	return t.codes[int(at)*t.dim : (int(at)+1)*t.dim]
}

// encode writes a vector as codes, and returns what a step is worth and how far
// the codes are from the vector at most.
func encode(codes []int8, v []float32) (scale, off float32) {
	most := 0.0
	for _, x := range v {
		if a := math.Abs(float64(x)); a > most {
			most = a
		}
	}
	clear(codes)
	if !(most > 0) || math.IsInf(most, 0) {
		return 0, 0
	}
	scale = float32(most / maxCode)
	sum := 0.0
	for i, x := range v {
		if x != x {
			clear(codes)
			return 0, 0
		}
		c := math.RoundToEven(float64(x) / float64(scale))
		c = max(-maxCode, min(maxCode, c))
		codes[i] = int8(c)
		d := float64(x) - float64(float32(c)*scale)
		sum += d * d
	}
	return scale, float32(math.Sqrt(sum)*1.0001 + 1e-7)
}

// Query is a vector to compare with.
type Query struct {
	unit  []float32
	codes []int16
	scale float64
	error float64
	// For guesses.
	planes []uint64 // of the first 64 numbers one after the other, then of the next
	wide   []uint64 // the same by 256 numbers, where the dimension goes up in them
	step   float64
	least  float64
	sum    float64
}

// queryCode is the greatest code of a query: its sum with a vector of the largest
// dimension still fits into 32 bits.
const queryCode = 2047

// NewQuery makes a unit vector of the table's dimension ready to be compared with.
func (t *Table) NewQuery(v []float32) *Query {
	q := &Query{unit: v, codes: make([]int16, len(v))}
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	q.scale = most / queryCode
	sum := 0.0
	for i, x := range v {
		c := math.RoundToEven(float64(x) / q.scale)
		q.codes[i] = int16(c)
		d := float64(x) - c*q.scale
		sum += d * d
	}
	q.error = math.Sqrt(sum)*1.0001 + 1e-7
	return q
}

// nearAtOnce is how many rows are compared in one go.
const nearAtOnce = 64

// Nears tells the cosines of rows with a query. What is below 0 is no row, and its
// cosine is not a number.
func (t *Table) Nears(q *Query, rows []int32, cosines []float64) {
	var sums [nearAtOnce]int32
	for len(rows) > 0 {
		n := min(len(rows), nearAtOnce)
		t.dots(q, rows, sums[:n])
		for i, at := range rows[:n] {
			if at < 0 {
				cosines[i] = math.NaN()
				continue
			}
			cosines[i] = float64(sums[i]) * (q.scale * float64(t.rows[at].scale))
		}
		rows, cosines = rows[n:], cosines[n:]
	}
}

// Within tells how far the cosine that Nears tells of a row is from the true one at most.
func (t *Table) Within(q *Query, at uint32) float64 { return q.within(t.rows[at].error) }

// Widest is how far a cosine that Nears tells of any row is from the true one at most.
func (t *Table) Widest(q *Query) float64 { return q.within(t.most) }

func (q *Query) within(off float32) float64 {
	return float64(off) + q.error*(1+float64(off)) + 1e-7
}

// Exact is the cosine of a query with a full unit vector.
func (q *Query) Exact(v []float32) float64 { return fact.Dot(q.unit, v) }

// dotsPlain sums the products of the codes of rows with those of a query.
func (t *Table) dotsPlain(q *Query, rows []int32, to []int32) {
	for i := range to {
		if at := rows[i]; at >= 0 {
			to[i] = dotPlain(q.codes, t.of(uint32(at)))
		}
	}
}

// dotPlain sums products of codes.
func dotPlain(a []int16, b []int8) int32 {
	var s0, s1, s2, s3 int32
	for len(b) >= 8 && len(a) >= 8 {
		x, y := (*[8]int16)(a), (*[8]int8)(b)
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
		a, b = a[8:], b[8:]
	}
	for i, y := range b {
		s0 += int32(a[i]) * int32(y)
	}
	return s0 + s1 + s2 + s3
}
