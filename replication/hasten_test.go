package replication

import (
	"errors"
	"testing"
	"time"

	"abagraph/fact"
)

// TestRequestsWithoutALeaderDoNotHoldUpTheEnd: however long requests may wait for a
// leader, they are told soon that there is none once their node is to end.
func TestRequestsWithoutALeaderDoNotHoldUpTheEnd(t *testing.T) {
	c := three(t, func(o *Options) { o.LeaderWait, o.RequestLimit = time.Hour, time.Hour })
	c.leader().mustWrite(t, write("Lamp:l", 1))
	m := c.follower()
	c.wires.isolate(m.id, c.members, true)
	eventually(t, "it knows of no leader", func() bool { _, known := m.leaderAddress(); return !known })
	errs := make(chan error)
	go func() { errs <- m.WaitTx(t.Context(), 99) }()
	go func() { errs <- m.waitIndex(t.Context(), 1<<20) }()
	go func() {
		_, err := m.read(t.Context(), fact.Linearizable, "Lamp:l")
		errs <- err
	}()
	go func() {
		_, err := m.Propose(t.Context(), write("Lamp:l", 2))
		errs <- err
	}()
	go func() { // what may have been applied is not told as a plain no
		p := m.newPatience()
		for {
			if err := p.wait(t.Context(), true); err != nil {
				errs <- err
				return
			}
		}
	}()
	select {
	case err := <-errs:
		t.Fatalf("given up at once: %v", err)
	case <-time.After(2 * lastWait):
	}
	m.Hasten()
	plain, unknown, late, named := 0, 0, 0, 0
	for range 5 {
		switch err := <-errs; {
		case errors.Is(err, errUnknown):
			unknown++
		case fact.CodeOf(err) == fact.Timeout:
			late++
			var e *fact.Error
			if errors.As(err, &e) && e.Field == "min_tx" {
				named++
			}
		case fact.CodeOf(err) == fact.NoLeader:
			plain++
		default:
			t.Errorf("told %v", err)
		}
	}
	if plain != 2 || unknown != 1 || late != 2 || named != 1 {
		t.Errorf("%d were told that there is no leader, %d that the outcome is not known, %d that it is late, %d by min_tx", plain, unknown, late, named)
	}
	c.wires.isolate(m.id, c.members, false)
}
