package rounds_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/internal/rounds"
)

// TestRoundsAreTheLeaders: a round begins only while the node leads, one at a time, and
// Stop ends the one that is under way and lets no other begin.
func TestRoundsAreTheLeaders(t *testing.T) {
	var leads atomic.Bool
	var under, began atomic.Int32
	follows, entered := make(chan struct{}, 1), make(chan struct{}, 1)
	r := rounds.Start(rounds.Options{
		Every: time.Millisecond,
		Leads: leads.Load,
		Follows: func() {
			select {
			case follows <- struct{}{}:
			default:
			}
		},
		Round: func(ctx context.Context) {
			if under.Add(1) > 1 {
				t.Error("two rounds at a time")
			}
			defer under.Add(-1)
			began.Add(1)
			entered <- struct{}{}
			<-ctx.Done()
		},
	})
	<-follows
	<-follows
	if began.Load() != 0 {
		t.Error("a round began while another node led")
	}
	leads.Store(true)
	<-entered
	r.Stop()
	if under.Load() != 0 || began.Load() != 1 {
		t.Errorf("%d rounds began, %d are under way after the stop", began.Load(), under.Load())
	}
	r.Stop()
}
