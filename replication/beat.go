package replication

import (
	"context"
	"time"
)

// beatEvery is how often those who wait for an outcome look whether they still may.
const beatEvery = 100 * time.Millisecond

// beats wakes them until the node stops, and then a last time.
func (p *proposer) beats() {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for p.node.serving() == nil {
		select {
		case <-ticker.C:
		case <-p.node.stopped:
		}
		p.beat.announce()
	}
}

// await waits for a write's outcome; false = its caller has left or has no more time, or
// the node stops. All who wait look for that together at each beat: a timer of its own and
// a place in its caller's context would cost a write more than the wait.
func (p *proposer) await(ctx context.Context, q *proposal) (outcome, bool) {
	for {
		beat := p.beat.next() // before the look, so that no stop comes in between
		if ctx.Err() != nil || p.node.serving() != nil {
			return outcome{}, false
		}
		select {
		case o := <-q.done:
			return o, true
		case <-beat:
		}
	}
}
