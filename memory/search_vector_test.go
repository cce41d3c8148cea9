package memory_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/embed"
	"abagraph/memory"
	"abagraph/memory/vector"
)

// denseWorld is a world whose facts have vectors, most of them.
type denseWorld struct {
	*world
	model    fact.Model
	provider memory.Embedder
	vectors  map[fact.ID][]float32 // by the statement's first piece
}

func newDenseWorld(t *testing.T, seed uint64) *denseWorld {
	p, err := embed.New(embed.Options{Provider: embed.Hash, Dim: 16})
	if err != nil {
		t.Fatal(err)
	}
	w := &denseWorld{newWorld(t, seed), p.Model(), p, map[fact.ID][]float32{}}
	w.steps = math.MaxInt / 2 // it makes no branches
	return w
}

func (w *denseWorld) embed(text string) []float32 {
	list, err := w.provider.Embed(context.Background(), []string{text})
	if err != nil {
		w.Fatal(err)
	}
	return list[0]
}

// chat makes n steps of history; most facts get a vector, some one of another
// model, some none.
func (w *denseWorld) chat(n int) {
	w.Helper()
	for range n {
		w.clock += fact.Instant(w.rnd.IntN(4))
		if w.oneIn(25) {
			w.sweep()
			continue
		}
		req := w.request()
		req.Write.Model = w.model
		if w.oneIn(8) {
			req.Write.Model.Dim = 4
		}
		for i := range req.Write.Asserts {
			a := &req.Write.Asserts[i]
			if w.oneIn(2) {
				a.Object = fact.TextObject(pick(w.world, searchTexts))
			}
			switch {
			case w.oneIn(6):
			case req.Write.Model != w.model:
				a.Vector = []float32{1, 0, 0, 0}
			default:
				a.Vector = w.embed(memory.EmbedText(a.Subject, a.Predicate, a.Object, a.Source))
				w.vectors[a.ID] = a.Vector
			}
		}
		w.write(req)
	}
}

// plainVectors ranks every fact that a search may answer by its vector and, in
// hybrid mode, its words.
func (w *denseWorld) plainVectors(c memory.Caller, q *memory.SearchQuery, asked []float32) (list []ranked, candidates, missing int) {
	at := w.at(q.Read)
	whole := at
	whole.AsOf = fact.NoInstant
	for _, tenant := range []string{"ta", "tb"} {
		if scope := c.Scope(q.Branch); !scope.All && scope.Tenant != tenant {
			continue
		}
		scope := memory.Caller{Tenant: tenant}.Scope(q.Branch)
		corpus := w.Facts(&fact.Query{Scope: scope, At: whole, Statuses: fact.AllStatuses, StatusGiven: true, Limit: 1 << 30})
		p := newPlainSearch(corpus, q.Question, q.Mode, nil)
		facts := w.Facts(&fact.Query{Scope: scope, At: at, Subject: q.Subject, Predicate: q.Predicate, Statuses: q.Statuses,
			StatusGiven: q.StatusGiven, IncludeRetracted: q.IncludeRetracted, Limit: 1 << 30})
		facts = slices.DeleteFunc(facts, func(f fact.Fact) bool { return f.Confidence < q.MinConfidence })
		mean, scale := 0.0, 1.0
		if q.Mode == memory.HybridSearch {
			mean, scale = w.spread(facts, asked)
		}
		for i := range facts {
			f := &facts[i]
			candidates++
			score, ok := p.score(f)
			v := w.vectors[f.Statement()]
			if v == nil {
				missing++
			} else {
				score, ok = score+(fact.Dot(asked, v)-mean)*scale, true
			}
			if ok && (v != nil || q.Mode != memory.VectorSearch) && (!q.MinScoreGiven || score >= q.MinScore) {
				list = append(list, ranked{*f, score})
			}
		}
	}
	return list, candidates, missing
}

// spread tells the mean and the inverse spread of the facts' cosines, as codes
// tell them.
func (w *denseWorld) spread(facts []fact.Fact, asked []float32) (mean, scale float64) {
	table := vector.NewTable(w.model.Dim)
	query := table.NewQuery(asked)
	var rows []int32
	for i := range facts {
		if v := w.vectors[facts[i].Statement()]; v != nil {
			var coded vector.Coded
			table.Code(&coded, v)
			rows = append(rows, int32(table.Put(1, 0, &coded)))
		}
	}
	cosines := make([]float64, len(rows))
	table.Nears(query, rows, cosines)
	for _, cosine := range cosines {
		mean += cosine
	}
	if len(cosines) == 0 {
		return 0, 0
	}
	mean /= float64(len(cosines))
	squares := 0.0
	for _, x := range cosines {
		squares += (x - mean) * (x - mean)
	}
	if squares /= float64(len(cosines)); math.Sqrt(squares) <= 1e-6 {
		return mean, 0
	}
	return mean, 1 / math.Sqrt(squares)
}

// check compares one search with looking at everything.
func (w *denseWorld) check(s *memory.Service, c memory.Caller, q *memory.SearchQuery) *memory.SearchAnswer {
	w.Helper()
	got, meta, err := s.Search(w.Context(), c, q, nil)
	if err != nil {
		w.Fatalf("%+v: %v", q, err)
	}
	asked := q.Vector
	if asked == nil {
		asked = w.embed(q.Question)
	}
	all, candidates, missing := w.plainVectors(c, q, asked)
	if v := got.Vectors; v == nil || v.Candidates != candidates || v.Missing != missing || got.Mode != q.Mode {
		w.Fatalf("%+v: %+v of vectors were searched, and %d of %d have none", q, v, missing, candidates)
	}
	if warned := strings.Contains(strings.Join(meta.Warnings, " "), "have no vector"); warned != (missing > 0) {
		w.Errorf("%+v: %d vectors are missing, and the warnings are %q", q, missing, meta.Warnings)
	}
	if want := min(q.Top, len(all)); len(got.Hits) != want {
		w.Fatalf("%+v as %+v: %d hits, want %d", q, c, len(got.Hits), want)
	}
	listed := map[fact.ID]bool{}
	for i, h := range got.Hits {
		listed[h.Fact.ID] = true
		at := slices.IndexFunc(all, func(r ranked) bool { return r.fact.ID == h.Fact.ID })
		if at < 0 || math.Abs(all[at].score-h.Score) > 1e-6 || !sameFact(all[at].fact, h.Fact) {
			w.Fatalf("%+v: hit %d is %+v, want one of %+v", q, i, h, all)
		}
		if sum := h.Why.Lexical + h.Why.Vector; math.Abs(sum-h.Score) > 1e-6 {
			w.Errorf("%+v: the parts of hit %d add up to %v, not to %v", q, i, sum, h.Score)
		}
		if i > 0 && h.Score > got.Hits[i-1].Score {
			w.Errorf("%+v: hit %d belongs before the one before it", q, i)
		}
	}
	for _, r := range all {
		if n := len(got.Hits); n > 0 && !listed[r.fact.ID] && r.score > got.Hits[n-1].Score+1e-6 {
			w.Errorf("%+v: %+v (%v) is missing before %v", q, r.fact, r.score, got.Hits[n-1].Score)
		}
	}
	return got
}

// TestVectorSearchAgainstBruteForce: on random histories of two tenants, at random
// instants of both axes and under all filters, a search by vectors answers what
// comparing with every fact that the caller may see gives; an index that has
// followed the store all along answers as one that was just made.
func TestVectorSearchAgainstBruteForce(t *testing.T) {
	for _, seed := range []uint64{0, 8, 9} { // 8 and 9: what expired had closed others
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newDenseWorld(t, 200+seed)
			options := memory.Options{Embedder: w.provider}
			follows := w.door(options)
			for round := range 8 {
				w.chat(20)
				if round%3 == 2 {
					w.purge()
				}
				fresh := w.door(options)
				for range 20 {
					c, q := w.caller(), w.searchQuery()
					q.Mode = pick(w.world, []memory.SearchMode{memory.VectorSearch, memory.HybridSearch})
					if q.Question == "" || w.oneIn(3) {
						q.Vector = w.embed(pick(w.world, searchTexts))
					}
					got := w.check(follows, c, q)
					again, _, err := fresh.Search(t.Context(), c, q, nil)
					if err != nil || shown(again) != shown(got) {
						t.Fatalf("%+v: a new index answers %s (%v), the one that followed %s", q, shown(again), err, shown(got))
					}
				}
			}
		})
	}
}

// TestAKnownMomentIsComparedExactly: a moment that is named is compared exactly while it
// is the present, too, so that its answer is the same when it is past.
func TestAKnownMomentIsComparedExactly(t *testing.T) {
	w := newDenseWorld(t, 1)
	w.chat(5)
	s := w.door(memory.Options{Embedder: w.provider})
	for _, read := range []func(*memory.Read){
		nil, func(r *memory.Read) { r.KnownAt = w.now() }, func(r *memory.Read) { r.KnownAt = w.now() + 1000 },
		func(r *memory.Read) { r.Tx, r.Pinned = w.machine.Position().Tx, true },
	} {
		q := &memory.SearchQuery{Read: memory.NewRead(), Question: "tea"}
		if read != nil {
			read(&q.Read)
		}
		if all, err := s.ComparesAll(t.Context(), w.operator(), q); err != nil || all != (read != nil) {
			t.Errorf("%+v: %v (%v)", q.Read, all, err)
		}
	}
}
