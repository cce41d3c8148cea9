package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"abagraph/fact"
)

// cloud makes unit vectors around some centres, as texts of some subjects are.
func cloud(rnd *rand.Rand, n, dim, centres int, spread float64) [][]float32 {
	middle := make([][]float32, centres)
	for i := range middle {
		middle[i] = normal(rnd, dim, nil, 1)
	}
	list := make([][]float32, n)
	for i := range list {
		list[i] = normal(rnd, dim, middle[rnd.IntN(centres)], spread)
		fact.Unit(list[i])
	}
	return list
}

func normal(rnd *rand.Rand, dim int, around []float32, spread float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rnd.NormFloat64() * spread)
		if around != nil {
			v[i] += around[i]
		}
	}
	return v
}

// TestNearIsWithinItsBounds: the true cosine lies within what Near says, for
// vectors of every kind and dimension.
func TestNearIsWithinItsBounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 2, 7, 8, 9, 64, 100, 256, 1536} {
		list := cloud(rnd, 200, dim, 5, 0.5)
		spike := make([]float32, dim)
		spike[dim/2] = -1
		tiny := normal(rnd, dim, nil, 1)
		tiny[0] *= 1e6
		fact.Unit(tiny)
		list = append(list, spike, tiny)
		table := NewTable(dim)
		for i, v := range list {
			if at := table.Add(uint64(i+1), v); at != uint32(i) || table.Tx(at) != uint64(i+1) {
				t.Fatalf("vector %d lies in row %d of tx %d", i, at, table.Tx(at))
			}
		}
		for _, v := range append(cloud(rnd, 20, dim, 5, 0.5), spike, tiny) {
			q := table.NewQuery(v)
			for i := range list {
				cosine, within := table.Near(q, uint32(i))
				if exact := q.Exact(list[i]); math.Abs(exact-cosine) > within {
					t.Fatalf("dimension %d: the cosine is %v, and was told as %v ± %v", dim, exact, cosine, within)
				}
				if dim >= 64 && i < 200 && within > 0.03 {
					t.Fatalf("dimension %d: the bounds are %v wide", dim, within)
				}
			}
		}
	}
}

// TestRemovedRowsAreWipedAndUsedAgain: nothing of a vector stays, and a row that
// comes again is as if it were new.
func TestRemovedRowsAreWipedAndUsedAgain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, signs := range []bool{false, true} {
		list := cloud(rnd, 10, 64, 2, 0.5)
		fresh, used := NewTable(64), NewTable(64)
		if signs {
			fresh.EnsureSigns()
			used.EnsureSigns()
		}
		for i, v := range list {
			used.Add(uint64(i+1), v)
		}
		for at := range uint32(10) {
			used.Remove(at)
		}
		for _, table := range [][]int8{used.codes} {
			if slices.ContainsFunc(table, func(c int8) bool { return c != 0 }) {
				t.Fatal("a removed row keeps its codes")
			}
		}
		if slices.ContainsFunc(used.signs, func(w uint64) bool { return w != 0 }) || used.Tx(3) != 0 {
			t.Fatal("a removed row keeps its signs or its tx")
		}
		for i, v := range list {
			a, b := fresh.Add(uint64(i+1), v), used.Add(uint64(i+1), v)
			q := fresh.NewQuery(list[0])
			x, _ := fresh.Near(q, a)
			y, _ := used.Near(used.NewQuery(list[0]), b)
			if x != y || signs && fresh.Guess(q, a) != used.Guess(used.NewQuery(list[0]), b) {
				t.Fatalf("a row that was used before tells %v, a new one %v", y, x)
			}
		}
		if used.Len() != 10 {
			t.Fatalf("ten vectors take %d rows", used.Len())
		}
	}
}

// TestUnusableVectorsAreNearNothing: what an old backup may hold harms no ranking.
func TestUnusableVectorsAreNearNothing(t *testing.T) {
	table := NewTable(2)
	table.EnsureSigns()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{{nan, 1}, {1, nan}, {inf, 0}, {0, 0}} {
		at := table.Add(1, v)
		q := table.NewQuery([]float32{1, 0})
		cosine, within := table.Near(q, at)
		if guess := table.Guess(q, at); cosine != 0 || !(within < 1) || guess != 0 {
			t.Errorf("%v has cosine %v ± %v, guessed %v", v, cosine, within, guess)
		}
	}
}

// TestGuessesFindTheNearest measures what the choice by guesses loses against the
// exact cosines: recall of the first ten, out of as many as a search looks at
// closely, in data of many shapes.
func TestGuessesFindTheNearest(t *testing.T) {
	for _, c := range []struct {
		name            string
		n, dim, centres int
		spread          float64
		look            int
	}{
		{"clusters", 8_000, 256, 200, 0.5, 300},
		{"wide clusters", 8_000, 256, 50, 1.5, 300},
		{"one cloud", 8_000, 256, 1, 1, 2_048},
		{"few dimensions", 8_000, 64, 100, 0.7, 400},
		{"many dimensions", 2_000, 1536, 40, 1, 200},
	} {
		rnd := rand.New(rand.NewPCG(5, 6))
		list := cloud(rnd, c.n+20, c.dim, c.centres, c.spread)
		table := NewTable(c.dim)
		for i, v := range list[20:] {
			if i == 100 {
				table.EnsureSigns() // later rows get theirs as they come
			}
			table.Add(1, v)
		}
		found := 0
		for _, v := range list[:20] {
			q := table.NewQuery(v)
			exact := nearest(c.n, 10, func(i int) float64 { return q.Exact(list[20+i]) })
			guessed := nearest(c.n, c.look, func(i int) float64 { return table.Guess(q, uint32(i)) })
			for _, i := range exact {
				if slices.Contains(guessed, i) {
					found++
				}
			}
		}
		recall := float64(found) / 200
		t.Logf("%s: recall@10 is %.3f among the first %d of %d", c.name, recall, c.look, c.n)
		if recall < 0.95 {
			t.Errorf("%s: recall@10 is %.3f", c.name, recall)
		}
	}
}

func nearest(n, top int, of func(int) float64) []int {
	list, scores := make([]int, n), make([]float64, n)
	for i := range list {
		list[i], scores[i] = i, of(i)
	}
	slices.SortFunc(list, func(a, b int) int {
		if scores[a] != scores[b] {
			if scores[a] > scores[b] {
				return -1
			}
			return 1
		}
		return a - b
	})
	return list[:top]
}

func BenchmarkNear256(b *testing.B)   { benchmark(b, 256, false) }
func BenchmarkNear1536(b *testing.B)  { benchmark(b, 1536, false) }
func BenchmarkGuess256(b *testing.B)  { benchmark(b, 256, true) }
func BenchmarkGuess1536(b *testing.B) { benchmark(b, 1536, true) }

func benchmark(b *testing.B, dim int, guess bool) {
	list := cloud(rand.New(rand.NewPCG(1, 1)), 1000, dim, 10, 0.5)
	table := NewTable(dim)
	for _, v := range list {
		table.Add(1, v)
	}
	table.EnsureSigns()
	q := table.NewQuery(list[0])
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		if guess {
			sum += table.Guess(q, uint32(i%1000))
		} else {
			x, _ := table.Near(q, uint32(i%1000))
			sum += x
		}
	}
	_ = sum
}

func BenchmarkGuesses256(b *testing.B) {
	list := cloud(rand.New(rand.NewPCG(1, 1)), 1024, 256, 10, 0.5)
	table := NewTable(256)
	for _, v := range list {
		table.Add(1, v)
	}
	table.EnsureSigns()
	q := table.NewQuery(list[0])
	var rows [GuessAtOnce]int32
	var cosines [GuessAtOnce]float64
	for i := 0; b.Loop(); i++ {
		for n := range rows {
			rows[n] = int32((i*GuessAtOnce + n) % len(list))
		}
		table.Guesses(q, rows[:], cosines[:])
	}
	b.ReportMetric(GuessAtOnce, "rows/op")
}

func BenchmarkAdd256(b *testing.B) {
	list := cloud(rand.New(rand.NewPCG(1, 1)), 1000, 256, 10, 0.5)
	table := NewTable(256)
	table.EnsureSigns()
	for i := 0; b.Loop(); i++ {
		table.Add(1, list[i%1000])
	}
}

// TestDotIsTheSameOnEveryMachine: however the processor adds up, the sum is that of
// the plain loop, with the greatest codes too.
func TestDotIsTheSameOnEveryMachine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for dim := range 300 {
		a, b := make([]int16, dim), make([]int8, dim)
		for _, fill := range []func() (int16, int8){
			func() (int16, int8) {
				return int16(rnd.IntN(2*queryCode+1) - queryCode), int8(rnd.IntN(2*maxCode+1) - maxCode)
			},
			func() (int16, int8) { return -queryCode, maxCode },
		} {
			want := 0
			for i := range a {
				a[i], b[i] = fill()
				want += int(a[i]) * int(b[i])
			}
			if got, plain := dot(a, b), dotPlain(a, b); int(got) != want || int(plain) != want {
				t.Fatalf("%d products add up to %d and %d, not %d", dim, got, plain, want)
			}
		}
	}
}

// TestTallyIsTheSameOnEveryMachine: rows that are tallied side by side get what the
// plain loop gives each, and what is no row keeps what it had.
func TestTallyIsTheSameOnEveryMachine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, dim := range []int{1, 64, 65, 100, 256, 300, 1536} {
		table := NewTable(dim)
		table.EnsureSigns()
		list := cloud(rnd, 40, dim, 3, 1)
		for _, v := range list {
			table.Add(1, v)
		}
		q := table.NewQuery(list[7])
		for range 50 {
			rows := make([]int32, rnd.IntN(GuessAtOnce+1))
			for i := range rows {
				rows[i] = int32(rnd.IntN(len(list)+5)) - 5
			}
			got, plain := make([]tally, len(rows)), make([]tally, len(rows))
			table.tally(q, rows, got)
			table.tallyPlain(q.planes, rows, plain)
			if !slices.Equal(got, plain) {
				t.Fatalf("dimension %d: rows %v are tallied as %v, and one by one as %v", dim, rows, got, plain)
			}
			cosines := make([]float64, len(rows))
			table.Guesses(q, rows, cosines)
			for i, at := range rows {
				want := 0.0
				if at >= 0 {
					want = table.Guess(q, uint32(at))
				}
				if cosines[i] != want {
					t.Fatalf("dimension %d: row %d is guessed as %v among others, alone as %v", dim, at, cosines[i], want)
				}
			}
		}
	}
}
