package fsm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// embedded gives vectors of one of two models to the asserts of a random
// history, and mixes in requests that set vectors later.
type embedded struct {
	rnd  *rand.Rand
	want map[owner][]setVector // in the order of their txs
}

type owner struct {
	tenant    string
	statement fact.ID
}

type setVector struct {
	model  fact.Model
	tx     uint64
	vector []float32
}

var models = []fact.Model{{Name: "hash", Dim: 3}, {Name: "hash", Dim: 2}}

func (e *embedded) vector(dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(e.rnd.IntN(7)) - 3
	}
	v[0] += 0.5
	fact.Unit(v)
	return v
}

// decorate returns the step with vectors in most of its asserts.
func (e *embedded) decorate(s model.Step) model.Step {
	if s.Request == nil || s.Request.Write == nil || s.Request.Idem != nil {
		return s
	}
	request, write := *s.Request, *s.Request.Write
	write.Model = models[e.rnd.IntN(2)]
	write.Asserts = append([]fact.Assert(nil), write.Asserts...)
	for i := range write.Asserts {
		if e.rnd.IntN(4) > 0 {
			write.Asserts[i].Vector = e.vector(write.Model.Dim)
		}
	}
	request.Write = &write
	s.Request = &request
	return s
}

// expect notes what a write with vectors must have kept.
func (e *embedded) expect(request *fact.Request, res *fact.Result) {
	if request.Write == nil || res.Err != nil || res.Replayed {
		return
	}
	for i := range res.Asserts {
		if a := &res.Asserts[i]; !a.Duplicate && request.Write.Asserts[i].Vector != nil {
			o := owner{request.Tenant, a.Fact.ID}
			e.want[o] = append(e.want[o], setVector{request.Write.Model, res.Tx, request.Write.Asserts[i].Vector})
		}
	}
}

// later sets vectors of some facts, living and gone, with and without one.
func (e *embedded) later(n *node, at fact.Instant, facts []fact.Fact) {
	n.Helper()
	m := models[e.rnd.IntN(2)]
	request := &fact.Request{Tenant: "ta", Branch: fact.MainBranch, Vectors: &fact.Vectors{Model: m}}
	var given []fact.Fact
	for range 3 {
		f := facts[e.rnd.IntN(len(facts))]
		given = append(given, f)
		request.Vectors.Rows = append(request.Vectors.Rows, fact.VectorRow{ID: f.ID, Vector: e.vector(m.Dim)})
	}
	request.Vectors.Rows = append(request.Vectors.Rows, fact.VectorRow{ID: fact.ID{1}, Vector: e.vector(m.Dim)})
	before := n.m.Position().Tx
	res := n.step(model.Step{ProposedAt: at, Request: request})
	wrote := false
	for i := range given {
		if given[i].Tenant != "ta" {
			continue
		}
		o := owner{"ta", given[i].Statement()}
		had := false
		for _, s := range e.want[o] {
			had = had || s.model == m
		}
		if !had {
			wrote = true
			e.want[o] = append(e.want[o], setVector{m, before + 1, request.Vectors.Rows[i].Vector})
		}
	}
	if res.Wrote != wrote || n.m.Position().Tx-before > 1 || (n.m.Position().Tx > before) != wrote {
		n.Fatalf("setting vectors wrote: %v, and must have: %v", res.Wrote, wrote)
	}
}

// all returns every fact of both tenants, and forgets the vectors of those that
// are gone.
func (e *embedded) all(t *testing.T, v *fsm.View) []fact.Fact {
	t.Helper()
	var facts []fact.Fact
	alive := map[owner]bool{}
	q := &fact.Query{Scope: fact.Scope{All: true, Branch: fact.MainBranch}, Statuses: fact.AllStatuses, StatusGiven: true, At: fact.Present(0)}
	err := v.Each(context.Background(), q, func(f *fact.Fact) bool {
		facts = append(facts, *f)
		alive[owner{f.Tenant, f.Statement()}] = true
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for o := range e.want {
		if !alive[o] {
			delete(e.want, o)
		}
	}
	return facts
}

// compare holds every read of vectors against what was set.
func (e *embedded) compare(t *testing.T, v *fsm.View) {
	t.Helper()
	ctx := context.Background()
	facts := e.all(t, v)
	for _, tenant := range []string{"ta", "tb"} {
		scope := fact.Scope{Tenant: tenant, Branch: fact.MainBranch}
		for _, m := range models {
			got := map[owner]setVector{}
			last := uint64(0)
			err := v.EachVector(ctx, scope, m, 0, func(id fact.ID, tx uint64, vector []float32) bool {
				if tx < last {
					t.Fatal("vectors do not come in the order of their txs")
				}
				last = tx
				got[owner{tenant, id}] = setVector{m, tx, vector}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[owner]setVector{}
			for o, list := range e.want {
				for _, s := range list {
					if s.model == m && o.tenant == tenant {
						want[o] = s
					}
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s has the vectors %v, not %v", tenant, got, want)
			}
			count := fact.VectorCount{}
			for i := range facts {
				f := &facts[i]
				if f.Tenant != tenant {
					continue
				}
				count.Facts++
				set, there := want[owner{tenant, f.Statement()}]
				if !there {
					count.Missing++
				}
				vector, tx, err := v.Vector(ctx, scope, m, f.Statement())
				if err != nil || tx != set.tx || !reflect.DeepEqual(vector, set.vector) {
					t.Fatalf("fact %s has vector %v of tx %d, not %v (%v)", f.ID, vector, tx, set, err)
				}
				seen := 0
				list := []fact.VectorAt{{Statement: f.Statement(), Tx: tx}, {Statement: f.Statement()}, {Statement: f.Statement(), Tx: tx + 1}}
				err = v.Vectors(ctx, scope, m, list, func(i int, got []float32) {
					if i != seen || !reflect.DeepEqual(got, set.vector) {
						t.Fatalf("fact %s has vector %v by way %d, not %v", f.ID, got, i, set.vector)
					}
					seen++
				})
				if err != nil || seen != len(list) {
					t.Fatalf("%d of %d vectors were read (%v)", seen, len(list), err)
				}
			}
			counted, err := v.CountVectors(ctx, scope, m)
			if err != nil || counted != count {
				t.Fatalf("%s counts %+v, not %+v (%v)", tenant, counted, count, err)
			}
		}
	}
}

// TestVectorsUnderEveryWeather: on random histories the store holds exactly the
// vectors that were set, continuations share them, the sweep and purges delete
// them, and the digest is one under all weathers.
func TestVectorsUnderEveryWeather(t *testing.T) {
	first, seeds := seedRange(t, 3)
	for seed := first + 300; seed < first+300+seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			r := model.NewRandom(seed)
			e := &embedded{rnd: rand.New(rand.NewPCG(seed, 9)), want: map[owner][]setVector{}}
			n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
			var history []fsm.Committed
			for range 150 {
				s := e.decorate(r.Step())
				n.put(bytesOf(s))
				history = append(history, n.pending[0])
				if out := n.apply(); s.Request != nil {
					e.expect(s.Request, out[0].Results[0])
				}
				v := n.view()
				facts := e.all(t, v)
				if e.rnd.IntN(3) == 0 && len(facts) > 0 {
					e.later(n, s.ProposedAt, facts)
					history = append(history, n.last)
				}
				v.Close()
				v = n.view()
				e.compare(t, v)
				v.Close()
			}
			for _, w := range weathers {
				other := w.replay(t, seed, history)
				if got, want := other.m.Position(), n.m.Position(); got != want {
					t.Fatalf("%s: the machine stands at %+v, not at %+v", w.name, got, want)
				}
				v := other.view()
				e.compare(t, v)
				if got, err := v.Verify(t.Context(), nil); err != nil || len(got.Problems) > 0 || got.Unchecked > 0 {
					t.Fatalf("%s: a deep check finds %+v, %v", w.name, got, err)
				}
				v.Close()
			}
		})
	}
}

func (n *node) view() *fsm.View {
	n.Helper()
	v, err := n.m.View()
	if err != nil {
		n.Fatal(err)
	}
	return v
}
