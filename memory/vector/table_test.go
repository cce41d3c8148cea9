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

// add keeps a vector of no group.
func add(t *Table, tx uint64, v []float32) uint32 {
	var coded Coded
	t.Code(&coded, v)
	return t.Put(tx, 0, &coded)
}

// ready makes a query ready for all that a table can tell.
func ready(t *Table, v []float32) *Query {
	q := t.NewQuery(v)
	if t.HasSigns() {
		t.ReadyToGuess(q)
	}
	return q
}

// nearOf tells the cosine of one row with a query, and how far that is from the true
// one at most.
func nearOf(t *Table, q *Query, at uint32) (cosine, within float64) {
	var one [1]float64
	t.Nears(q, []int32{int32(at)}, one[:])
	return one[0], t.Within(q, at)
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
			if at := add(table, uint64(i+1), v); at != uint32(i) || table.Tx(at) != uint64(i+1) {
				t.Fatalf("vector %d lies in row %d of tx %d", i, at, table.Tx(at))
			}
		}
		for _, v := range append(cloud(rnd, 20, dim, 5, 0.5), spike, tiny) {
			q := ready(table, v)
			for i := range list {
				cosine, within := nearOf(table, q, uint32(i))
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
			add(used, uint64(i+1), v)
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
			a, b := add(fresh, uint64(i+1), v), add(used, uint64(i+1), v)
			q := ready(fresh, list[0])
			x, _ := nearOf(fresh, q, a)
			y, _ := nearOf(used, ready(used, list[0]), b)
			if x != y || signs && fresh.Guess(q, a) != used.Guess(ready(used, list[0]), b) {
				t.Fatalf("a row that was used before tells %v, a new one %v", y, x)
			}
		}
		if len(used.rows) != StripRows {
			t.Fatalf("ten vectors take %d rows", len(used.rows))
		}
	}
}

// TestGroupsLieTogether: the rows of each group fill strips of its own, no row is
// given to two vectors, and what is given back is used again, by other groups too
// once a strip is empty.
func TestGroupsLieTogether(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	table := NewTable(1)
	table.EnsureSigns()
	held := map[uint32]uint32{} // rows to groups
	rows := []uint32{}
	most := 0
	for round := range 20_000 {
		if grows := round/2_500%2 == 0; len(rows) > 0 && rnd.IntN(8) < 1 == grows {
			i := rnd.IntN(len(rows))
			table.Remove(rows[i])
			delete(held, rows[i])
			rows = slices.Delete(rows, i, i+1)
			continue
		}
		group := uint32(round/5_000*4 + rnd.IntN(4))
		var coded Coded
		table.Code(&coded, []float32{1})
		at := table.Put(1, group, &coded)
		if of, there := held[at]; there {
			t.Fatalf("row %d of group %d is given to group %d, too", at, of, group)
		}
		held[at], rows = group, append(rows, at)
		most = max(most, len(rows))
	}
	groups := map[uint32]uint32{}
	for at, group := range held {
		if of, there := groups[at/StripRows]; there && of != group {
			t.Fatalf("strip %d is of the groups %d and %d", at/StripRows, of, group)
		}
		groups[at/StripRows] = group
	}
	if len(table.rows) > 2*most {
		t.Errorf("%d vectors at most take %d rows", most, len(table.rows))
	}
	for _, at := range rows {
		table.Remove(at)
	}
	if len(table.spare) != len(table.strips) || len(table.room) > 0 {
		t.Errorf("without a vector %d of %d strips are free", len(table.spare), len(table.strips))
	}
}

// TestUnusableVectorsAreNearNothing: what an old backup may hold harms no ranking.
func TestUnusableVectorsAreNearNothing(t *testing.T) {
	table := NewTable(2)
	table.EnsureSigns()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{{nan, 1}, {1, nan}, {inf, 0}, {0, 0}} {
		at := add(table, 1, v)
		q := ready(table, []float32{1, 0})
		cosine, within := nearOf(table, q, at)
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
			add(table, 1, v)
		}
		found := 0
		for _, v := range list[:20] {
			q := ready(table, v)
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

func BenchmarkNears256(b *testing.B)    { benchmark(b, 256, (*Table).Nears) }
func BenchmarkNears1536(b *testing.B)   { benchmark(b, 1536, (*Table).Nears) }
func BenchmarkGuesses256(b *testing.B)  { benchmark(b, 256, (*Table).Guesses) }
func BenchmarkGuesses1536(b *testing.B) { benchmark(b, 1536, (*Table).Guesses) }

func benchmark(b *testing.B, dim int, compare func(*Table, *Query, []int32, []float64)) {
	list := cloud(rand.New(rand.NewPCG(1, 1)), 1024, dim, 10, 0.5)
	table := NewTable(dim)
	for _, v := range list {
		add(table, 1, v)
	}
	table.EnsureSigns()
	q := ready(table, list[0])
	var rows [256]int32
	var cosines [256]float64
	for i := 0; b.Loop(); i++ {
		for n := range rows {
			rows[n] = int32((i*len(rows) + n) % len(list))
		}
		compare(table, q, rows[:], cosines[:])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
}

func BenchmarkAdd256(b *testing.B) {
	list := cloud(rand.New(rand.NewPCG(1, 1)), 1000, 256, 10, 0.5)
	table := NewTable(256)
	table.EnsureSigns()
	for i := 0; b.Loop(); i++ {
		add(table, 1, list[i%1000])
	}
}

// TestDotsAreTheSameOnEveryMachine: however the processor adds up, and whatever rows it
// is asked to fetch ahead, the sums are those of the plain loop, with the greatest codes
// too; what is no row keeps what it had.
func TestDotsAreTheSameOnEveryMachine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const count = 30
	for dim := 1; dim < 300; dim++ {
		table, q := NewTable(dim), &Query{codes: make([]int16, dim)}
		table.codes, table.rows = make([]int8, count*dim), make([]row, count)
		for i := range table.codes {
			table.codes[i] = int8(rnd.IntN(2*maxCode+1) - maxCode)
		}
		for i := range q.codes {
			q.codes[i] = int16(rnd.IntN(2*queryCode+1) - queryCode)
			if dim%2 == 0 { // the greatest sum that there can be
				q.codes[i], table.codes[i] = -queryCode, maxCode
			}
		}
		list := make([]int32, 40)
		for i := range list {
			list[i] = int32(rnd.IntN(count+3)) - 3
		}
		list[0] = 0
		want := make([]int32, 1+rnd.IntN(len(list)))
		got, plain := make([]int32, len(want)), make([]int32, len(want))
		for i := range want {
			want[i], got[i], plain[i] = -7, -7, -7
			if at := list[i]; at >= 0 {
				want[i] = 0
				for n, x := range table.of(uint32(at)) {
					want[i] += int32(q.codes[n]) * int32(x)
				}
			}
		}
		table.dots(q, list, got)
		table.dotsPlain(q, list, plain)
		if !slices.Equal(got, want) || !slices.Equal(plain, want) {
			t.Fatalf("%d products of rows %v add up to %v and %v, not %v", dim, list, got, plain, want)
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
			add(table, 1, v)
		}
		q := ready(table, list[7])
		for range 50 {
			rows := make([]int32, rnd.IntN(40))
			for i := range rows {
				rows[i] = int32(rnd.IntN(len(list)+5)) - 5
			}
			some := rnd.IntN(len(rows) + 1) // the others are fetched ahead only
			got, plain := make([]tally, some), make([]tally, some)
			table.tally(q, rows, got)
			table.tallyPlain(q.planes, rows, plain)
			if !slices.Equal(got, plain) {
				t.Fatalf("dimension %d: rows %v are tallied as %v, and one by one as %v", dim, rows, got, plain)
			}
			cosines := make([]float64, len(rows))
			table.Guesses(q, rows, cosines)
			for i, at := range rows {
				want := math.NaN()
				if at >= 0 {
					want = table.Guess(q, uint32(at))
				}
				if cosines[i] != want && (at >= 0 || !math.IsNaN(cosines[i])) {
					t.Fatalf("dimension %d: row %d is guessed as %v among others, alone as %v", dim, at, cosines[i], want)
				}
			}
		}
	}
}
