package fsm_test

import (
	"errors"
	"testing"

	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"
)

// TestACheckFindsAnotherDigest: also where its tx is of the same call, as on a node that
// catches up.
func TestACheckFindsAnotherDigest(t *testing.T) {
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	for _, s := range model.NewRandom(3).History(20) {
		n.put(bytesOf(s))
	}
	n.put(entry.EncodeCheck(0, 2, [32]byte{1}))
	if _, err := n.m.Apply(n.pending); !errors.Is(err, fsm.ErrDigest) {
		t.Fatalf("a wrong digest of tx 2: %v", err)
	}
}
