package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"
	"abagraph/memory"
)

// world is a store and the reference model of it, with one random history of
// two tenants: names that look like references and names that do not, texts,
// numbers and values that are neither. The same seed gives the same world.
type world struct {
	*testing.T
	*model.Model
	service *memory.Service
	machine *fsm.Machine
	rnd     *rand.Rand
	index   uint64
	clock   fact.Instant
	first   fact.Instant
	ids     map[string][]fact.ID
	steps   int
	forks   []string // the branches that each tenant has
	lasting bool     // nothing is written that deletes itself
	entries [][]byte // all that was applied
}

var worldTenants = []string{"ta", "ta", "tb"}

// What names and objects are made of. Some are subjects only in one tenant or at
// some times, some never.
var (
	worldNames = []string{"P:a", "P:b", "P:c", "Org:x", "Org:y", "bob", "eve", "1", "zo\u00eb", "http://h"}
	worldTexts = append([]string{"P:ghost", "T:only/object", "plain", "has space", "P:with space", "https://h/x", "2024-01-01T00:00:00Z", "zoe\u0308", "P:", "P:x\u200b", ""}, worldNames...)
	worldVerbs = []string{"knows", "knows", "likes", "works_at"}
)

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	machine, err := fsm.Open(fsm.Options{CacheBytes: 32 << 20, MemTableBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{
		T: t, Model: model.New(), machine: machine, rnd: rand.New(rand.NewPCG(seed, 7)),
		clock: 1_700_000_000_000, first: 1_700_000_000_000, ids: map[string][]fact.ID{},
	}
	w.service, err = memory.New(memory.Options{Engine: w, View: w.view, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) view(context.Context) (memory.View, error) {
	v, err := w.machine.View()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Propose is of no use here: the world writes by itself.
func (w *world) Propose(context.Context, *fact.Request) (*fact.Result, error) {
	return nil, errors.New("the world writes by itself")
}

// Basis is where the world stands.
func (w *world) Basis(context.Context, fact.Level, uint64) (fact.Basis, error) {
	at := w.Position()
	return fact.Basis{Now: max(w.clock, at.RecordedAt), Tx: at.Tx}, nil
}

// WaitTx has nothing to wait for.
func (w *world) WaitTx(context.Context, uint64) error { return nil }

// Position is where the machine stands.
func (w *world) Position() fact.Position { return w.machine.Position() }

func (w *world) now() fact.Instant { return max(w.clock, w.RecordedAt()) }

func (w *world) oneIn(n int) bool { return w.rnd.IntN(n) == 0 }

func pick[T any](w *world, from []T) T { return from[w.rnd.IntN(len(from))] }

// live makes n steps of history.
func (w *world) live(n int) {
	w.Helper()
	for range n {
		w.clock += fact.Instant(w.rnd.IntN(4))
		if w.oneIn(25) {
			w.sweep()
			continue
		}
		w.write(w.request())
	}
}

func (w *world) apply(data []byte) fsm.Applied {
	w.Helper()
	w.index++
	w.entries = append(w.entries, data)
	out, err := w.machine.Apply([]fsm.Committed{{Index: w.index, Term: 1, Data: data}})
	if err != nil {
		w.Fatal(err)
	}
	return out[0]
}

func (w *world) sweep() {
	w.Helper()
	w.apply(entry.EncodeSweep(w.clock))
	w.Model.Sweep(w.clock)
}

// store writes to the store alone.
func (w *world) store(req *fact.Request) *fact.Result {
	w.Helper()
	batch := entry.Batch{ProposedAt: w.clock, Requests: [][]byte{entry.EncodeRequest(req)}}
	return w.apply(entry.EncodeBatch(batch)).Results[0]
}

// write writes to both, and notes the ids.
func (w *world) write(req *fact.Request) {
	w.Helper()
	got, want := w.store(req), w.Apply(w.clock, req)
	if got.Tx != want.Tx || (got.Err == nil) != (want.Err == nil) {
		w.Fatalf("the store took tx %d (%v), the model tx %d (%v)", got.Tx, got.Err, want.Tx, want.Err)
	}
	for i := range got.Asserts {
		w.ids[req.Tenant] = append(w.ids[req.Tenant], got.Asserts[i].Fact.ID)
	}
}

// fork makes branches as time goes by, in each tenant: one, one upon it, and one of
// a past.
func (w *world) fork() {
	w.Helper()
	parent, made := map[int]string{20: fact.MainBranch, 45: "b0", 70: fact.MainBranch}[w.steps]
	if w.steps++; !made {
		return
	}
	c := &fact.BranchChange{Op: fact.BranchCreate, Name: fmt.Sprint("b", len(w.forks)), Parent: parent, AsOf: fact.NoInstant}
	if len(w.forks) == 2 {
		c.AsOf = min(w.instant(), w.clock)
	}
	for _, tenant := range []string{"ta", "tb"} {
		w.write(&fact.Request{Tenant: tenant, Branch: fact.MainBranch, Branching: c})
	}
	w.forks = append(w.forks, c.Name)
}

// branch is main, or a branch that each tenant has.
func (w *world) branch() string {
	if len(w.forks) == 0 || w.oneIn(2) {
		return fact.MainBranch
	}
	return pick(w, w.forks)
}

func (w *world) request() *fact.Request {
	w.fork()
	req := &fact.Request{
		Tenant: pick(w, worldTenants), Branch: w.branch(), Threshold: fact.DefaultThreshold, Write: &fact.Write{},
	}
	if known := w.ids[req.Tenant]; len(known) > 0 && w.oneIn(6) {
		req.Write.Retracts = []fact.Retract{{ID: pick(w, known), KnownAt: fact.NoInstant}}
		return req
	}
	if w.oneIn(5) {
		req.Write.Backfill = &fact.Backfill{KnownAt: w.instant(), Reason: "archive"}
		req.Write.Backfill.KnownAt = min(req.Write.Backfill.KnownAt, w.clock)
	}
	for range 1 + w.rnd.IntN(3) {
		req.Write.Asserts = append(req.Write.Asserts, w.assert())
	}
	return req
}

func (w *world) assert() fact.Assert {
	a := fact.Assert{
		ID: w.newID(), Subject: pick(w, worldNames), Predicate: pick(w, worldVerbs), Object: w.object(),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: pick(w, []float64{0.5, 0.9, 1, 1}),
		Policy: pick(w, []fact.Policy{fact.AutoSupersede, fact.Coexist, fact.Coexist, fact.Coexist}), KnownAt: fact.NoInstant,
	}
	if w.oneIn(2) {
		a.ValidFrom = w.instant()
		if w.oneIn(2) {
			a.ValidUntil = a.ValidFrom + 1 + fact.Instant(w.rnd.IntN(100))
			a.Transient = w.oneIn(4) && !w.lasting
		}
	}
	return a
}

func (w *world) object() fact.Object {
	switch w.rnd.IntN(8) {
	case 0:
		return fact.Object{Kind: fact.Number, Text: pick(w, []string{"1", "1.0", "42"})}
	case 1:
		return pick(w, []fact.Object{{}, fact.BoolObject(true), fact.TextObject("P:" + longName)})
	}
	return fact.TextObject(pick(w, worldTexts))
}

// longName is too long for a name.
var longName = strings.Repeat("n", fact.MaxNameBytes)

// instant is a time around the history's.
func (w *world) instant() fact.Instant {
	return w.first - 20 + fact.Instant(w.rnd.IntN(int(w.clock-w.first)+60))
}

func (w *world) newID() fact.ID {
	var random [10]byte
	for i := range random {
		random[i] = byte(w.rnd.IntN(256))
	}
	return fact.NewID(w.clock, random)
}

// caller reads one tenant, or all of them.
func (w *world) caller() memory.Caller {
	return memory.Caller{Operator: true, Tenant: pick(w, []string{"ta", "ta", "tb", ""})}
}

// read is a random point on both axes.
func (w *world) read() memory.Read {
	r := memory.NewRead()
	r.Branch = w.branch()
	switch w.rnd.IntN(4) {
	case 0:
		r.Pinned, r.Tx = true, w.rnd.Uint64N(w.Tx()+1)
	case 1:
		r.KnownAt, r.NoBackfill = w.instant(), w.oneIn(3)
	}
	if w.oneIn(2) {
		r.AsOf = w.instant()
	}
	return r
}

// at says the same to the model.
func (w *world) at(r memory.Read) fact.At {
	at := fact.Present(w.now())
	at.AsOf = r.AsOf
	switch {
	case r.Pinned:
		at.Pinned, at.Tx = true, r.Tx
	case r.KnownAt.Given() && r.KnownAt >= w.RecordedAt():
		at.Now = min(r.KnownAt, at.Now)
	case r.KnownAt.Given():
		at.KnownAt, at.NoBackfill = r.KnownAt, r.NoBackfill
	}
	return at
}
