package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
)

// vectored is a source whose facts have vectors around some centres.
type vectored struct {
	*heap
	model   fact.Model
	vectors [][]float32 // by fact; nil = none
	place   map[fact.ID]int
}

// withVectors gives vectors to made-up facts: of each hundred one has the
// predicate rare, and where missing is set one has none.
func withVectors(n, dim, centres int, missing bool) *vectored {
	rnd := rand.New(rand.NewPCG(3, uint64(n)))
	vocabulary := make([]string, 64)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("word%d", i)
	}
	v := &vectored{heap: skewed(n, vocabulary), model: fact.Model{Name: "m", Dim: dim}, place: map[fact.ID]int{}}
	middle := make([][]float32, centres)
	for i := range middle {
		middle[i] = around(rnd, dim, nil)
	}
	for i := range v.facts {
		f := &v.facts[i]
		v.place[f.ID] = i
		if i%100 == 1 {
			f.Predicate = "rare"
		}
		vector := around(rnd, dim, middle[rnd.IntN(centres)])
		if missing && i%100 == 7 {
			vector = nil
		}
		v.vectors = append(v.vectors, vector)
	}
	return v
}

func around(rnd *rand.Rand, dim int, middle []float32) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rnd.NormFloat64())
		if middle != nil {
			v[i] = v[i]*0.5/float32(math.Sqrt(float64(dim))) + middle[i]
		}
	}
	fact.Unit(v)
	return v
}

func (v *vectored) EachVector(_ context.Context, _ fact.Scope, m fact.Model, after uint64, visit func(fact.ID, uint64, []float32) bool) error {
	for i := range v.facts {
		f := &v.facts[i]
		if m == v.model && f.FirstTx > after && v.vectors[i] != nil && !visit(f.ID, f.FirstTx, v.vectors[i]) {
			return nil
		}
	}
	return nil
}

func (v *vectored) Vectors(_ context.Context, _ fact.Scope, m fact.Model, list []fact.VectorAt, visit func(int, []float32)) error {
	for n, at := range list {
		if i, there := v.place[at.Statement]; there && m == v.model {
			visit(n, v.vectors[i])
		} else {
			visit(n, nil)
		}
	}
	return nil
}

// question is a vector near that of some fact.
func (v *vectored) question(rnd *rand.Rand) []float32 {
	for {
		if near := v.vectors[rnd.IntN(len(v.vectors))]; near != nil {
			return around(rnd, v.model.Dim, near)
		}
	}
}

// indexOf makes the index of a source, with its vectors.
func (v *vectored) index(t testing.TB) *Index {
	x := newIndex(fact.Scope{Tenant: "t"})
	if err := x.build(context.Background(), v, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	return x
}

func (v *vectored) query(vector []float32, mode Mode, top int) *Query {
	return &Query{
		Filter: Filter{Moment: Moment{Tx: v.tx}, Statuses: fact.AllStatuses, From: fact.NoInstant, Until: fact.Forever},
		Mode:   mode, Top: top, MinScore: math.Inf(-1), Dense: &Dense{Model: v.model, Vector: vector, Tx: v.tx},
	}
}

func (v *vectored) search(t testing.TB, x *Index, q *Query) *Answer {
	t.Helper()
	if err := x.followVectors(context.Background(), v, v.model, math.MaxInt64, nil); err != nil {
		t.Fatal(err)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	answer, err := x.searchDense(context.Background(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// nearest compares with everything.
func (v *vectored) nearest(q *Query, passes func(*fact.Fact) bool) []fact.ID {
	type near struct {
		i      int
		cosine float64
	}
	var list []near
	for i := range v.facts {
		if passes(&v.facts[i]) && fact.Unit(slices.Clone(v.vectors[i])) {
			list = append(list, near{i, fact.Dot(q.Dense.Vector, v.vectors[i])})
		}
	}
	slices.SortFunc(list, func(a, b near) int {
		if a.cosine != b.cosine {
			return int(math.Copysign(1, b.cosine-a.cosine))
		}
		return b.i - a.i
	})
	var ids []fact.ID
	for _, n := range list[:min(q.Top, len(list))] {
		ids = append(ids, v.facts[n.i].ID)
	}
	return ids
}

func idsOf(a *Answer) []fact.ID {
	var ids []fact.ID
	for _, h := range a.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func anyFact(*fact.Fact) bool { return true }

// TestManyCandidates: beyond the bound of exact comparison the first ten are found
// by guesses, nearly all of them; reads that must be exact, and filters that leave
// few, are compared exactly.
func TestManyCandidates(t *testing.T) {
	v := withVectors(6_000, 64, 60, true)
	x := v.index(t)
	x.closely = closely{exact: 1_000, look: 150, perHit: 5}
	rnd := rand.New(rand.NewPCG(1, 1))
	found, guessed := 0, false
	for range 40 {
		q := v.query(v.question(rnd), Vector, 10)
		exact := v.nearest(q, anyFact)
		got := v.search(t, x, q)
		if got.Candidates != 6_000 || got.Missing != 60 {
			t.Fatalf("%d of %d candidates have no vector", got.Missing, got.Candidates)
		}
		for _, id := range idsOf(got) {
			if slices.Contains(exact, id) {
				found++
			}
		}
		guessed = guessed || !slices.Equal(idsOf(got), exact)
		q.Dense.Exact = true
		if got := v.search(t, x, q); !slices.Equal(idsOf(got), exact) {
			t.Fatalf("an exact search finds %v, not %v", idsOf(got), exact)
		}
		q.Dense.Exact, q.Predicate = false, "rare"
		if got := v.search(t, x, q); got.Candidates != 60 || !slices.Equal(idsOf(got), v.nearest(q, func(f *fact.Fact) bool { return f.Predicate == "rare" })) {
			t.Fatalf("a filtered search of %d candidates finds %v", got.Candidates, idsOf(got))
		}
	}
	recall := float64(found) / 400
	t.Logf("recall@10 is %.3f; something was missed: %v", recall, guessed)
	if recall < 0.95 {
		t.Errorf("recall@10 is %.3f", recall)
	}
}

// hostile makes vectors whose codes tell little: many that are the same, or nearly so,
// or with one number that hides the others, made of very great or small ones, and some
// that no provider's answer becomes: of no length, and not of numbers.
func hostile(rnd *rand.Rand, n, dim int) [][]float32 {
	list := make([][]float32, n)
	for i := range list {
		v := around(rnd, dim, nil)
		if i >= 40 {
			v = slices.Clone(list[rnd.IntN(40)])
		}
		at := rnd.IntN(dim)
		switch i % 12 {
		case 0, 1, 2:
			v[at] += float32(rnd.NormFloat64() * 1e-4)
		case 3, 4:
			v[at] = 50
		case 5:
			for j := range v {
				v[j] += float32(rnd.NormFloat64() * 1e-6)
			}
		case 6:
			v = make([]float32, dim)
			v[at] = 1
		}
		if i%12 == 7 {
			longer := float32(math.Pow(10, float64(rnd.IntN(60)-30)))
			for j := range v {
				v[j] *= longer
			}
		}
		fact.Unit(v)
		switch i % 96 {
		case 11:
			clear(v)
		case 23:
			v[at] = float32(math.NaN())
		case 35:
			v[at] = float32(math.Inf(1))
		}
		list[i] = v
	}
	return list
}

// TestSearchesAreExactWhateverTheVectors: where few are left by a filter, or all are to
// be compared, the hits are those of comparing with everything, their scores to the last
// bit, whatever the vectors are and wherever they lie.
func TestSearchesAreExactWhateverTheVectors(t *testing.T) {
	for _, dim := range []int{3, 64, 100} {
		rnd := rand.New(rand.NewPCG(uint64(dim), 5))
		v := withVectors(6_000, dim, 5, false)
		for i, vector := range hostile(rnd, len(v.vectors), dim) {
			v.vectors[i] = vector
			if i%10 == 3 {
				v.facts[i].Predicate = "rather rare"
			}
		}
		x := v.index(t)
		for round := range 60 {
			question := v.vectors[rnd.IntN(len(v.vectors))]
			if round%2 == 0 || !fact.Unit(slices.Clone(question)) {
				question = around(rnd, dim, nil)
			}
			question = slices.Clone(question)
			fact.Unit(question)
			q := v.query(question, Vector, 1+rnd.IntN(40))
			q.Dense.Exact = true
			if q.Predicate = []string{"", "rare", "rather rare"}[round%3]; q.Predicate != "" {
				q.Dense.Exact = false
			}
			want := v.nearest(q, func(f *fact.Fact) bool { return q.Predicate == "" || f.Predicate == q.Predicate })
			got := v.search(t, x, q)
			if !slices.Equal(idsOf(got), want) {
				t.Fatalf("dimension %d, %q: the first %d are %v, not %v", dim, q.Predicate, q.Top, idsOf(got), want)
			}
			for _, h := range got.Hits {
				if exact := fact.Dot(question, v.vectors[v.place[h.ID]]); h.Score != exact {
					t.Fatalf("dimension %d: a hit scores %v, not %v", dim, h.Score, exact)
				}
			}
		}
	}
}

// TestGuessesAreTheSameEverywhere: an index that took the vectors one by one, with
// rows used twice, guesses as one that was made at once.
func TestGuessesAreTheSameEverywhere(t *testing.T) {
	v := withVectors(3_000, 32, 1, false)
	whole, grown := v.index(t), v.index(t)
	whole.closely = closely{exact: 100, look: 20, perHit: 1}
	grown.closely = whole.closely
	half := *v
	half.heap = &heap{facts: v.facts[:1_500], tx: 1_500}
	if err := grown.followVectors(t.Context(), &half, v.model, math.MaxInt64, nil); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, mode := range []Mode{Vector, Hybrid} {
		for range 20 {
			q := v.query(v.question(rnd), mode, 5)
			q.Text = "word1 word7 rare"
			a, b := v.search(t, whole, q), v.search(t, grown, q)
			if fmt.Sprint(a.Hits) != fmt.Sprint(b.Hits) {
				t.Fatalf("%s: one index answers %v, another %v", mode, a.Hits, b.Hits)
			}
		}
	}
}

// TestNoRoomForVectors: words go on finding, and the vectors are not read again
// and again.
func TestNoRoomForVectors(t *testing.T) {
	v := withVectors(500, 256, 5, false)
	x := v.index(t)
	most := x.size() + 20_000
	for range 2 {
		if err := x.followVectors(t.Context(), v, v.model, most, nil); err != errTooLarge {
			t.Fatalf("the error is %v", err)
		}
		if x.size() > most || x.dense != nil {
			t.Fatalf("the index takes %d bytes of %d", x.size(), most)
		}
	}
	m := NewIndexes(most, func() (Source, func(), error) { return v, func() {}, nil })
	defer m.Close()
	if err := m.Ready(t.Context(), fact.Scope{Tenant: "t"}, v.Position); err != nil {
		t.Fatal(err)
	}
	q := v.query(v.vectors[0], Hybrid, 5)
	q.Text = "word1"
	got, err := m.Search(t.Context(), fact.Scope{Tenant: "t"}, v, q)
	if err != nil || !got.NoRoom || len(got.Hits) != 5 {
		t.Fatalf("the search answers %+v, %v", got, err)
	}
}

var benchVectors sync.Map // by size

func benchDense(b *testing.B, n int) (*vectored, *Index) {
	if v, ok := benchVectors.Load(n); ok {
		pair := v.([2]any)
		return pair[0].(*vectored), pair[1].(*Index)
	}
	v := withVectors(n, 256, 500, false)
	x := v.index(b)
	v.search(b, x, v.query(v.vectors[0], Vector, 1))
	benchVectors.Store(n, [2]any{v, x})
	b.Logf("%d facts: the index takes %d MiB, %d of them for vectors", n, x.size()>>20, x.denseBytes.Load()>>20)
	return v, x
}

func benchmarkDense(b *testing.B, tune func(*Query)) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v, x := benchDense(b, n)
			rnd := rand.New(rand.NewPCG(1, 1))
			queries := make([]*Query, 32)
			for i := range queries {
				queries[i] = v.query(v.question(rnd), Vector, 10)
				queries[i].Text = "word1 word9 rare"
				tune(queries[i])
			}
			b.ResetTimer()
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				v.search(b, x, queries[i%len(queries)])
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/10].Microseconds()), "µs-p10") // what a busy machine changes least
		})
	}
}

func BenchmarkVectors(b *testing.B)       { benchmarkDense(b, func(*Query) {}) }
func BenchmarkVectorsHybrid(b *testing.B) { benchmarkDense(b, func(q *Query) { q.Mode = Hybrid }) }
func BenchmarkVectorsPast(b *testing.B)   { benchmarkDense(b, func(q *Query) { q.Dense.Exact = true }) }
func BenchmarkVectorsOnePercent(b *testing.B) {
	benchmarkDense(b, func(q *Query) { q.Predicate = "rare" })
}

// halfway is a source whose reader's time is up in the middle of the vectors.
type halfway struct {
	*vectored
	stop context.CancelFunc
}

func (h *halfway) EachVector(ctx context.Context, s fact.Scope, m fact.Model, after uint64, visit func(fact.ID, uint64, []float32) bool) error {
	n := 0
	err := h.vectored.EachVector(ctx, s, m, after, func(id fact.ID, tx uint64, v []float32) bool {
		n++
		return n <= len(h.vectors)/2 && visit(id, tx, v)
	})
	h.stop()
	return errors.Join(err, ctx.Err())
}

// TestVectorsThatTakeTooLong: who waited in vain is told how many were read, and the
// next one goes on from there.
func TestVectorsThatTakeTooLong(t *testing.T) {
	v := withVectors(1_000, 16, 5, false)
	x := v.index(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var building *Building
	err := x.followVectors(ctx, &halfway{v, cancel}, v.model, math.MaxInt64, nil)
	if !errors.As(err, &building) || !errors.Is(err, context.Canceled) || !building.Vectors || building.Percent < 40 || building.Percent > 50 {
		t.Fatalf("following ends with %v", err)
	}
	if got := v.search(t, x, v.query(v.vectors[999], Vector, 1)); len(got.Hits) != 1 || got.Hits[0].ID != v.facts[999].ID {
		t.Fatalf("the last vector finds %+v", got.Hits)
	}
}

// TestGatherIsEveryDocumentThatPasses: however many look for candidates side by side,
// they are those that pass the filters, in their order.
func TestGatherIsEveryDocumentThatPasses(t *testing.T) {
	v := withVectors(30_000, 4, 5, false)
	x := v.index(t)
	for name, tune := range map[string]func(*Query){
		"all":         func(*Query) {},
		"active":      func(q *Query) { q.Statuses = fact.StatusSet(0).With(fact.Active) },
		"certain":     func(q *Query) { q.MinConfidence = 0.9 },
		"of the past": func(q *Query) { q.Moment = Moment{Tx: v.tx / 3} },
		"at a time":   func(q *Query) { q.From, q.Until = x.docs[9_999].from, x.docs[9_999].from+1 },
	} {
		q := v.query(v.vectors[0], Vector, 1)
		tune(q)
		s := x.newDenseSearch(q)
		if err := s.gather(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := passing(s)
		if !slices.Equal(s.columns.ords, want) || len(want) == 0 {
			t.Errorf("%s: %d candidates, of %d", name, len(s.columns.ords), len(want))
		}
		s.done()
	}
}

// passing asks of one document after another whether it passes.
func passing(s *denseSearch) (ords []uint32) {
	for ord := range s.bound {
		if s.passes(ord) {
			ords = append(ords, ord)
		}
	}
	return ords
}
