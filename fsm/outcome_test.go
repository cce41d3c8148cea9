package fsm_test

import (
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestPurgedIsNotWrittenAgain: a request that comes once more under its key after a purge
// of what it wrote, as one that was on its way can, is refused, whatever it holds, and
// in the same Apply call too: how entries were batched must not show. Nothing else is
// kept of it.
func TestPurgedIsNotWrittenAgain(t *testing.T) {
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
		{ProposedAt: at + 2, Request: keyed("tea", 1)},
		{ProposedAt: at + 3, Request: keyed("coffee", 2)},
		{ProposedAt: at + 4, Request: purge},
		{ProposedAt: at + fact.Instant(24*time.Hour/time.Millisecond), Request: keyed("coffee", 2)},
	}
	for _, together := range []int{1, 2, 3, 6} {
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
		for _, r := range results[2:4] {
			if r.Wrote || r.Replayed || r.Err == nil || r.Err.Code != fact.Conflict || r.Err.Field != fact.IdempotencyField || len(r.Err.IDs) > 0 {
				t.Errorf("%d entries at a time: a late request after the purge: %+v", together, r)
			}
		}
		if r := results[4]; r.Err != nil || r.Purged != 0 {
			t.Errorf("%d entries at a time: something was there to be purged: %+v", together, r)
		}
		if r := results[5]; r.Err != nil || !r.Wrote {
			t.Errorf("%d entries at a time: the key was remembered for more than a day: %+v", together, r)
		}
	}
}
