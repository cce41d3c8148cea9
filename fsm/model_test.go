package fsm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"
)

// This file runs the engine against the reference model: the same random
// history, step by step, the same answers, and the same answers to reads of
// every kind in between.

// node drives one machine as a Raft log would.
type node struct {
	*testing.T
	m       *fsm.Machine
	options fsm.Options
	index   uint64
	pending []fsm.Committed
	last    fsm.Committed // the entry that was put last
}

func newNode(t *testing.T, options fsm.Options) *node {
	t.Helper()
	m, err := fsm.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{T: t, m: m, options: options}
	t.Cleanup(func() {
		if err := n.m.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// bytesOf returns a step as a log entry.
func bytesOf(s model.Step) []byte {
	if s.Request == nil {
		return entry.EncodeSweep(s.ProposedAt)
	}
	req := *s.Request
	req.Explain = true
	return entry.EncodeBatch(entry.Batch{ProposedAt: s.ProposedAt, Requests: [][]byte{entry.EncodeRequest(&req)}})
}

// put adds an entry to the log without applying it.
func (n *node) put(data []byte) {
	n.index++
	n.last = fsm.Committed{Index: n.index, Term: 1, Data: data}
	n.pending = append(n.pending, n.last)
}

// apply applies what was put. What is told before it is written is what becomes of it.
func (n *node) apply() []fsm.Applied {
	n.Helper()
	var told []*fact.Result
	var at []uint64
	out, err := n.m.ApplyTelling(n.pending, func(entries []fsm.Committed, done []fsm.Applied) {
		for i, e := range entries {
			for _, r := range done[i].Results {
				told, at = append(told, plain(r)), append(at, e.Index)
			}
		}
	})
	if err != nil {
		n.Fatal(err)
	}
	next := 0
	for i, e := range n.pending {
		for _, r := range out[i].Results {
			if next < len(at) && at[next] == e.Index {
				same(n.T, fmt.Sprintf("told of entry %d", e.Index), told[next], plain(r))
				next++
			}
		}
	}
	if next != len(told) {
		n.Fatalf("%d outcomes were told, %d of them of an entry", len(told), next)
	}
	n.pending = nil
	return out
}

func (n *node) step(s model.Step) *fact.Result {
	n.Helper()
	n.put(bytesOf(s))
	out := n.apply()
	if s.Request == nil {
		return nil
	}
	return out[0].Results[0]
}

// same fails if two values differ in what a caller can see of them.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, w := shown(t, got), shown(t, want) // nil and empty look the same
	if !bytes.Equal(g, w) {
		i := 0
		for i < len(g) && i < len(w) && g[i] == w[i] {
			i++
		}
		from := max(0, i-400)
		t.Fatalf("%s: they part here:\n engine …%s\n model  …%s", what, g[from:min(len(g), i+200)], w[from:min(len(w), i+200)])
	}
}

func shown(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	switch string(b) {
	case "null", "[]", "{}":
		return []byte("nothing")
	}
	return b
}

// plain leaves out of a result what the model does not say in the same words.
func plain(r *fact.Result) *fact.Result {
	if r == nil {
		return nil
	}
	p := *r
	if r.Err != nil {
		e := *r.Err
		e.Message, e.Field = "", ""
		p.Err = &e
	}
	p.Asserts = nil
	for _, a := range r.Asserts {
		a.Fact, a.Superseded, a.Moved, a.Continuations = bare(a.Fact), bareAll(a.Superseded), bareAll(a.Moved), bareAll(a.Continuations)
		p.Asserts = append(p.Asserts, a)
	}
	p.Retracted = bareAll(r.Retracted)
	if r.Branching != nil {
		b := *r.Branching
		b.Conflicts = nil
		for _, c := range r.Branching.Conflicts {
			c.Fact, c.With = bare(c.Fact), bareAll(c.With)
			b.Conflicts = append(b.Conflicts, c)
		}
		p.Branching = &b
	}
	return &p
}

// bare leaves out how the engine remembers that a fact was a candidate.
func bare(f fact.Fact) fact.Fact {
	f.Promoted = false
	if len(f.Properties) == 0 {
		f.Properties = nil
	}
	return f
}

func bareAll(facts []fact.Fact) []fact.Fact {
	var list []fact.Fact
	for _, f := range facts {
		list = append(list, bare(f))
	}
	return list
}

// compareReads asks engine and model the same random questions.
func compareReads(t *testing.T, v *fsm.View, r *model.Random, questions int) {
	t.Helper()
	ctx := context.Background()
	for range questions {
		q := r.Query()
		page, err := v.Facts(ctx, q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		want := bareAll(r.Model.Facts(q))
		same(t, fmt.Sprintf("facts of %+v", *q), bareAll(page.Facts), want)
		if q.Subject != "" {
			continue
		}
		v.SetPatience(1, 1) // lists are given up early, for all rows
		page, err = v.Facts(ctx, q)
		v.SetPatience(fsm.ShortList, fsm.MaxMisses)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		same(t, fmt.Sprintf("facts of %+v, read the other way", *q), bareAll(page.Facts), want)
	}
	compareEach(t, v, r)
	compareSubjects(t, v, r)
	scope, at, id := r.Scope(), r.At(), r.ID()
	f, err := v.Fact(ctx, scope, id, at)
	if err != nil && fact.CodeOf(err) != fact.NotFound {
		t.Fatal(err)
	}
	mf, mp := r.Model.Fact(scope, id, at)
	if (f == nil) != (mf == nil) {
		t.Fatalf("fact %s of %+v at %+v: engine %v, model %v", id, scope, at, f, mf)
	}
	if f != nil {
		same(t, "fact", bare(f.Fact), bare(*mf))
		same(t, "pieces", bareAll(f.Pieces), bareAll(mp))
	}
	h, err := v.History(ctx, scope, id, 0)
	if err != nil && fact.CodeOf(err) != fact.NotFound {
		t.Fatal(err)
	}
	if mh := r.Model.History(scope, id); mh != nil && h != nil {
		same(t, "history", bareAll(h.Versions), bareAll(mh.Versions))
		same(t, "timeline", bareAll(h.Timeline), bareAll(mh.Timeline))
		same(t, "statement", bareAll(h.Pieces), bareAll(mh.Pieces))
	} else if (mh == nil) != (h == nil) {
		t.Fatalf("history of %s: engine %v, model %v", id, h, mh)
	}
	eq := r.EntityQuery()
	entities, err := v.Entities(ctx, eq)
	if err != nil {
		t.Fatal(err)
	}
	want := r.Model.Entities(eq)
	same(t, fmt.Sprintf("entities of %+v", *eq), entities, want)
	v.SetPatience(1, 1)
	entities, err = v.Entities(ctx, eq)
	v.SetPatience(fsm.ShortList, fsm.MaxMisses)
	if err != nil {
		t.Fatal(err)
	}
	same(t, fmt.Sprintf("entities of %+v, found by keys", *eq), entities, want)
	predicates, err := v.Predicates(ctx, eq.Scope, eq.At, eq.After, eq.Limit)
	if err != nil {
		t.Fatal(err)
	}
	same(t, fmt.Sprintf("predicates of %+v", *eq), predicates, r.Model.Predicates(eq))
	stats, err := v.Stats(ctx, eq.Scope)
	if err != nil {
		t.Fatal(err)
	}
	same(t, fmt.Sprintf("stats of %+v", eq.Scope), stats, r.Model.Stats(eq.Scope))
	if r.Forks {
		compareWhole(t, v, r)
		compareBranches(t, v, r, eq.Scope.Tenant)
	}
}

// compareBranches asks for the branches of a tenant, and what they change.
func compareBranches(t *testing.T, v *fsm.View, r *model.Random, tenant string) {
	t.Helper()
	ctx := context.Background()
	scope := fact.Scope{Tenant: tenant, Branch: fact.MainBranch}
	list, err := v.Branches(ctx, &fact.BranchQuery{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	want := r.Model.Branches(tenant)
	same(t, "branches", list, want)
	for i := range want {
		diff, err := v.BranchDiff(ctx, scope, want[i].Name, r.Model.RecordedAt(), 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "diff of "+want[i].Name, plainDiff(diff), plainDiff(r.Model.Diff(tenant, want[i].Name)))
	}
}

// compareWhole asks for all versions of a branch, and for the facts that were
// asserted last, of which there are no more than all.
func compareWhole(t *testing.T, v *fsm.View, r *model.Random) {
	t.Helper()
	ctx := context.Background()
	q := r.Query()
	q.Limit, q.TxGtGiven, q.At.KnownAt = 1<<20, false, fact.NoInstant
	recent, err := v.Recent(ctx, q, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	same(t, fmt.Sprintf("recent facts of %+v", *q), bareAll(recent), bareAll(r.Model.Facts(q)))

	scope := q.Scope
	scope.All = false
	var now []fact.Fact
	var past []string
	err = v.EachVersion(ctx, scope, func(f *fact.Fact) bool {
		now = append(now, *f)
		return true
	}, func(w *fact.Version) bool {
		past = append(past, fmt.Sprint(w.ID, w.Tx, w.Status, w.ValidFrom, w.ValidUntil, w.KnownAt))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	wantNow, replaced := r.Model.Whole(scope.Tenant, scope.Branch)
	var want []string
	for _, f := range replaced {
		want = append(want, fmt.Sprint(f.ID, f.Tx, f.Status, f.ValidFrom, f.ValidUntil, f.VersionKnownAt))
	}
	for _, list := range [][]fact.Fact{now, wantNow} {
		slices.SortFunc(list, func(a, b fact.Fact) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	}
	slices.Sort(past)
	slices.Sort(want)
	same(t, fmt.Sprintf("every fact of %+v", scope), bareAll(now), bareAll(wantNow))
	same(t, fmt.Sprintf("every version of %+v", scope), past, want)
}

func plainDiff(d *fact.BranchDiff) *fact.BranchDiff {
	p := *d
	p.Added, p.Changed, p.Removed, p.Replaced = bareAll(d.Added), bareAll(d.Changed), bareAll(d.Removed), bareAll(d.Replaced)
	return &p
}

// compareEach asks for every fact of a query, in whatever order.
func compareEach(t *testing.T, v *fsm.View, r *model.Random) {
	t.Helper()
	q := r.Query()
	q.Limit = 1 << 20
	want := r.Model.Facts(q)
	q.Limit = 0
	var got []fact.Fact
	err := v.Each(context.Background(), q, func(f *fact.Fact) bool {
		got = append(got, *f)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]fact.Fact{got, want} {
		slices.SortFunc(list, func(a, b fact.Fact) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	}
	same(t, fmt.Sprintf("each fact of %+v", *q), bareAll(got), bareAll(want))
}

func compareEvents(t *testing.T, v *fsm.View, r *model.Random) {
	t.Helper()
	scope := r.Scope()
	after := r.Model.Tx() / 2
	want := r.Model.Events(scope, after)
	var got []fact.Event
	for at := after; at < r.Model.Tx(); {
		page, err := v.Events(context.Background(), &fact.EventQuery{Scope: scope, After: at, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		if page.Through <= at {
			t.Fatalf("events do not get on from tx %d", at)
		}
		got, at = append(got, page.Events...), page.Through
	}
	for _, list := range [][]fact.Event{got, want} {
		for i := range list {
			list[i].Fact, list[i].Superseded = bare(list[i].Fact), bareAll(list[i].Superseded)
		}
	}
	same(t, "events", got, want)
}

// TestEngineAnswersAsTheModel is the main proof of C-10 to C-34: on random
// histories the engine answers every write and every read as the model does.
func TestEngineAnswersAsTheModel(t *testing.T) {
	first, seeds := seedRange(t, 8)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			r := model.NewRandom(seed)
			n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
			for i := range 200 {
				n.once(i, r)
			}
		})
	}
}

// TestBranchesAnswerAsTheModel is the same with branches (C-55), and branches of
// branches: the model copies what the engine overlays.
func TestBranchesAnswerAsTheModel(t *testing.T) {
	first, seeds := seedRange(t, 5)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			r := model.NewRandomForks(seed)
			n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
			for i := range 150 {
				n.once(i, r)
			}
		})
	}
}

// seedRange returns the seeds of a randomized test: the same few each time, or,
// for a soak, many more from ABAGRAPH_SEED on.
func seedRange(t *testing.T, few uint64) (first, n uint64) {
	text := os.Getenv("ABAGRAPH_SEED")
	if text == "" {
		return 0, few
	}
	first, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("ABAGRAPH_SEED: %v", err)
	}
	return first, 10 * few
}

// once takes one random step and compares everything.
func (n *node) once(i int, r *model.Random) {
	before := r.Model.Tx()
	s := r.Step()
	got := n.step(s)
	if s.Request != nil {
		want := r.Answer
		same(n.T, fmt.Sprintf("step %d (tx %d) %s", i, before, shown(n.T, s.Request)), plain(got), plain(want))
	}
	if tx := n.m.Position().Tx; tx != r.Model.Tx() {
		n.Fatalf("step %d: engine is at tx %d, model at %d", i, tx, r.Model.Tx())
	}
	v, err := n.m.View()
	if err != nil {
		n.Fatal(err)
	}
	defer v.Close()
	compareReads(n.T, v, r, 4)
	if i%10 == 0 {
		compareEvents(n.T, v, r)
	}
}
