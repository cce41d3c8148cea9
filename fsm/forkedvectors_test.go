package fsm_test

import (
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestPurgeTakesVectorsFromBranches: a vector that a branch gave to a statement that
// it inherits goes with the statement.
func TestPurgeTakesVectorsFromBranches(t *testing.T) {
	const at = 1_700_000_000_000
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	id := fact.NewID(at, [10]byte{9: 1})
	m := fact.Model{Name: "hash", Dim: 2}
	on := func(branch string, req *fact.Request) *fact.Result {
		t.Helper()
		req.Tenant, req.Branch, req.Threshold = "ta", branch, fact.DefaultThreshold
		res := n.step(model.Step{ProposedAt: at, Request: req})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		return res
	}
	on(fact.MainBranch, &fact.Request{Write: &fact.Write{Asserts: []fact.Assert{{
		ID: id, Subject: "Person:a", Predicate: "likes", Object: fact.TextObject("tea"),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
	}}}})
	on(fact.MainBranch, &fact.Request{Branching: &fact.BranchChange{Op: fact.BranchCreate, Name: "b", Parent: fact.MainBranch, AsOf: fact.NoInstant}})
	on("b", &fact.Request{Vectors: &fact.Vectors{Model: m, Rows: []fact.VectorRow{{ID: id, Vector: []float32{1, 0}}}}})
	count := func() (rows int) {
		t.Helper()
		v, err := n.m.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		err = v.EachVector(t.Context(), fact.Scope{Tenant: "ta", Branch: "b"}, m, 0, func(fact.ID, uint64, []float32) bool {
			rows++
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if count() != 1 {
		t.Fatal("the branch has no vector to lose")
	}
	on(fact.MainBranch, &fact.Request{Purge: &fact.Purge{Subject: "Person:a"}})
	if count() != 0 {
		t.Error("a purged statement's vector is left on the branch")
	}
	if got, err := verified(t, n.m); err != nil || len(got.Problems) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
