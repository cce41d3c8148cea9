package memory

import (
	"crypto/rand"
	"sync"
	"time"

	"abagraph/fact"
)

// ids makes the ids of facts and keys (C-2). Each sorts after the one before it,
// within a millisecond too and when the clock steps back, so that a list ordered
// by id shows what one node was told in the order of the telling.
type ids struct {
	mu     sync.Mutex
	at     fact.Instant
	random [10]byte
}

func (n *ids) next(now time.Time) fact.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := fact.Instant(now.UnixMilli()); at > n.at {
		n.at = at
		_, _ = rand.Read(n.random[:]) // it never fails: the runtime stops the process rather
		n.random[3] &= 0x7f           // room to count up, far beyond what a millisecond holds
		return fact.NewID(n.at, n.random)
	}
	for i := len(n.random) - 1; i > 2; i-- {
		if n.random[i]++; n.random[i] != 0 {
			break
		}
	}
	return fact.NewID(n.at, n.random)
}

// newID makes the id of a fact or key.
func (s *Service) newID() fact.ID { return s.ids.next(s.now()) }
