package replication

import (
	"context"
	"sync"

	"abagraph/fact"
)

// readPoint is what a linearizable read may rely on: whatever was acknowledged
// before it was asked for lies at or below Index.
type readPoint struct {
	index uint64
	now   fact.Instant
}

// rounds lets all reads that wait share one leader check. A read joins the round
// that has not begun yet, never one under way: a check speaks only for reads that
// were there before it began.
type rounds struct {
	fetch func() (readPoint, error)
	start func(func()) bool // runs a function in a goroutine that the node owns

	mu      sync.Mutex
	running bool
	next    *round
}

type round struct {
	done  chan struct{}
	point readPoint
	err   error
}

// join waits for the result of the next round.
func (r *rounds) join(ctx context.Context) (readPoint, error) {
	r.mu.Lock()
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
	}
	mine := r.next
	if !r.running {
		r.running = r.start(r.run)
	}
	running := r.running
	r.mu.Unlock()
	if !running {
		return readPoint{}, errNotLeader
	}
	select {
	case <-mine.done:
		return mine.point, mine.err
	case <-ctx.Done():
		return readPoint{}, ctx.Err()
	}
}

// run performs rounds until nobody waits.
func (r *rounds) run() {
	for {
		r.mu.Lock()
		mine := r.next
		r.next = nil
		if mine == nil {
			r.running = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		mine.point, mine.err = r.fetch()
		close(mine.done)
	}
}
