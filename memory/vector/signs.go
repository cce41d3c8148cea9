package vector

import (
	"math"
	"math/bits"
	"slices"
)

// planes is how many bits a number of a turned query is told by.
const planes = 4

// rotation turns vectors so that no few numbers carry most of them, by two rounds
// of fixed changes of sign, each followed by a Walsh-Hadamard transform.
type rotation struct {
	size  int // the power of two that holds the dimension
	flips [2][]uint64
}

func newRotation(dim int) *rotation {
	size := 64
	for size < dim {
		size *= 2
	}
	r := &rotation{size: size}
	state := uint64(0x9e3779b97f4a7c15)
	for round := range r.flips {
		r.flips[round] = make([]uint64, size/64)
		for i := range r.flips[round] { // splitmix64
			state += 0x9e3779b97f4a7c15
			z := state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			r.flips[round][i] = z ^ z>>31
		}
	}
	return r
}

// turn turns the numbers in place; they are longer by a constant factor after it.
func (r *rotation) turn(v []float32) {
	for _, flips := range r.flips {
		for i := range v {
			if flips[i/64]>>(i%64)&1 == 1 {
				v[i] = -v[i]
			}
		}
		for half := 1; half < len(v); half *= 2 {
			for from := 0; from < len(v); from += 2 * half {
				a, b := v[from:from+half], v[from+half:from+2*half]
				for i, x := range a {
					y := b[i]
					a[i], b[i] = x+y, x-y
				}
			}
		}
	}
}

// EnsureSigns makes the second form of every row, and of those to come.
func (t *Table) EnsureSigns() {
	if t.turn != nil {
		return
	}
	t.turn = newRotation(t.dim)
	t.words = t.turn.size / 64
	t.signs = make([]uint64, len(t.rows)*t.words)
	t.lifts = make([]float32, len(t.rows))
	var c Coded
	for at := range uint32(len(t.rows)) {
		c.codes = append(c.codes[:0], t.of(at)...)
		t.sign(&c)
		t.keepSigns(at, &c)
	}
}

// HasSigns tells whether there is a second form.
func (t *Table) HasSigns() bool { return t.turn != nil }

// sign makes the second form of a vector: the signs of its turned codes, and what
// their product with a query has to be lifted by to be a cosine.
func (t *Table) sign(c *Coded) {
	c.turned = slices.Grow(c.turned[:0], t.turn.size)[:t.turn.size]
	c.signs = slices.Grow(c.signs[:0], t.words)[:t.words]
	v := c.turned
	length := 0.0
	for i, code := range c.codes {
		v[i] = float32(code)
		length += float64(code) * float64(code)
	}
	clear(v[len(c.codes):])
	t.turn.turn(v)
	clear(c.signs)
	sum := 0.0
	for i, x := range v {
		if x > 0 {
			c.signs[i/64] |= 1 << (i % 64)
		}
		sum += math.Abs(float64(x))
	}
	c.lift = 0
	if sum > 0 {
		// Both lengths grow by the size in the two rounds.
		c.lift = float32(math.Sqrt(length) * float64(t.turn.size) / sum)
	}
}

func (t *Table) keepSigns(at uint32, c *Coded) {
	copy(t.signs[int(at)*t.words:int(at+1)*t.words], c.signs)
	t.lifts[at] = c.lift
}

// ReadyToGuess makes a query ready for guesses: it turns it and tells its numbers in few
// bits, one plane for each. There is a second form.
func (t *Table) ReadyToGuess(q *Query) {
	v := make([]float32, t.turn.size)
	copy(v, q.unit)
	t.turn.turn(v)
	least, most := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		least, most = min(least, float64(x)), max(most, float64(x))
	}
	const top = 1<<planes - 1
	q.step, q.least = (most-least)/top, least
	q.planes = make([]uint64, planes*t.words)
	q.sum = 0
	for i, x := range v {
		n := uint64(0)
		if q.step > 0 {
			n = uint64(min(top, math.RoundToEven((float64(x)-least)/q.step)))
		}
		for p := range planes {
			q.planes[i/64*planes+p] |= (n >> p & 1) << (i % 64)
		}
		q.sum += least + float64(float64(n)*q.step)
	}
	q.widen(t.words)
}

// wideWords is how many words of signs the processor takes in one go at most.
const wideWords = 4

// widen puts the planes of each wideWords words one after the other.
func (q *Query) widen(words int) {
	if words%wideWords > 0 {
		return
	}
	q.wide = make([]uint64, len(q.planes))
	for w := range words {
		for p := range planes {
			q.wide[(w/wideWords*planes+p)*wideWords+w%wideWords] = q.planes[w*planes+p]
		}
	}
}

// Guess tells about what the cosine of a row with a query that is ready to guess is.
func (t *Table) Guess(q *Query, at uint32) float64 {
	var cosine [1]float64
	t.Guesses(q, []int32{int32(at)}, cosine[:])
	return cosine[0]
}

// guessAtOnce is how many rows are tallied in one go.
const guessAtOnce = 16

// Guesses is Guess for many rows, which is faster. What is below 0 is no row, and its
// guess is not a number.
func (t *Table) Guesses(q *Query, rows []int32, cosines []float64) {
	var tallies [guessAtOnce]tally
	least, step, sum, share := q.least, q.step, q.sum, 1/float64(t.turn.size) // a power of two
	for len(rows) > 0 {
		n := min(len(rows), guessAtOnce)
		t.tally(q, rows, tallies[:n])
		for i, at := range rows[:n] {
			if at < 0 {
				cosines[i] = math.NaN()
				continue
			}
			// The conversions keep machines from joining a product and a sum.
			positive := float64(float64(tallies[i].ones)*least) + float64(float64(tallies[i].steps)*step)
			cosines[i] = (float64(2*positive) - sum) * float64(t.lifts[at]) * share
		}
		rows, cosines = rows[n:], cosines[n:]
	}
}

// tally is how many bits of a row are set, and the sum of a query's numbers where
// they are.
type tally struct{ ones, steps int64 }

// tallyPlain tallies rows, those that are none below 0.
func (t *Table) tallyPlain(of []uint64, rows []int32, to []tally) {
	for i := range to {
		if at := rows[i]; at >= 0 {
			to[i] = tallyOne(t.signs[int(at)*t.words:int(at+1)*t.words], of)
		}
	}
}

func tallyOne(signs, of []uint64) (t tally) {
	for i, w := range signs {
		p := (*[planes]uint64)(of[planes*i:])
		t.ones += int64(bits.OnesCount64(w))
		t.steps += int64(bits.OnesCount64(w&p[0]) + 2*bits.OnesCount64(w&p[1]) + 4*bits.OnesCount64(w&p[2]) + 8*bits.OnesCount64(w&p[3]))
	}
	return t
}
