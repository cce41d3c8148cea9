package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBestOf: the best of many values are those that sorting all of them finds, with
// ties, with values that do not count, and where a sample misleads.
func TestBestOf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n, most := rnd.IntN(50_000), 1+rnd.IntN(2_000)
		values := make([]float64, n)
		for i := range values {
			switch round % 4 {
			case 0:
				values[i] = rnd.NormFloat64()
			case 1:
				values[i] = float64(rnd.IntN(5))
			case 2:
				values[i] = math.Inf(-1)
				if rnd.IntN(20) == 0 {
					values[i] = rnd.Float64()
				}
			default: // the sample sees only the high ones
				if step := max(1, n/sampled); i%step == 0 {
					values[i] = 1
				}
			}
		}
		want := make([]scored, 0, n)
		for i, v := range values {
			if !math.IsInf(v, -1) {
				want = append(want, scored{uint32(i), v})
			}
		}
		order := func(a, b scored) int {
			if a.better(b) {
				return -1
			}
			return 1
		}
		slices.SortFunc(want, order)
		want = want[:min(most, len(want))]
		got := bestOf(values, most)
		slices.SortFunc(got, order)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: the best %d of %d are %v, not %v", round, most, n, got[:min(5, len(got))], want[:min(5, len(want))])
		}
	}
}
