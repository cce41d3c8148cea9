package fsm_test

import (
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestPurgedOutcomesAreGoneAtOnce: a purge forgets the outcome of a key for
// whatever follows it, in the same Apply call too: how entries were batched must
// not show.
func TestPurgedOutcomesAreGoneAtOnce(t *testing.T) {
	const at = 1_700_000_000_000
	keyed := func(object string, hash byte) *fact.Request {
		return &fact.Request{
			Tenant: "ta", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
			Idem: &fact.Idempotency{Key: "k", Method: "POST", Path: "/api/facts", Hash: [32]byte{hash}},
			Write: &fact.Write{Asserts: []fact.Assert{{
				ID: fact.NewID(at, [10]byte{hash}), Subject: "Person:a", Predicate: "likes", Object: fact.TextObject(object),
				ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
			}}},
		}
	}
	purge := &fact.Request{Tenant: "ta", Branch: fact.MainBranch, Purge: &fact.Purge{Subject: "Person:a"}}
	steps := []model.Step{
		{ProposedAt: at, Request: keyed("tea", 1)},
		{ProposedAt: at + 1, Request: purge},
		{ProposedAt: at + 2, Request: keyed("coffee", 2)},
		{ProposedAt: at + 3, Request: keyed("coffee", 2)},
	}
	for _, together := range []int{1, 2, 4} {
		n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
		var results []*fact.Result
		for i, s := range steps {
			n.put(bytesOf(s))
			if (i+1)%together == 0 {
				for _, a := range n.apply() {
					results = append(results, a.Results...)
				}
			}
		}
		if r := results[2]; r.Err != nil || r.Replayed || !r.Wrote {
			t.Errorf("%d entries at a time: the key was remembered past the purge: %+v", together, r)
		}
		if r := results[3]; !r.Replayed || r.Tx != results[2].Tx {
			t.Errorf("%d entries at a time: the new outcome was not kept: %+v", together, r)
		}
	}
}
