package replication

import (
	"context"
	"testing"
	"time"

	"abagraph/fact"
)

// TestNoReadIsOlderThanOneElsewhere: a follower can apply an entry, and answer by it,
// before the leader has. Linearizable reads that come after that wait for the entry, on
// the leader and through it.
func TestNoReadIsOlderThanOneElsewhere(t *testing.T) {
	c, gates := gatedThree(t, nil)
	leader, follower := c.leader(), c.follower()
	leader.mustWrite(t, write("Lamp:l", 1))
	release := gates[leader.id].hold(t)
	written := make(chan error, 1)
	go func() {
		_, err := leader.Propose(soon(t), write("Lamp:l", 2))
		written <- err
	}()
	eventually(t, "a follower tells of the write", func() bool {
		got, err := follower.read(soon(t), fact.Stale, "Lamp:l")
		return err == nil && got == "2"
	})
	for _, m := range c.members {
		short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		got, err := m.read(short, fact.Linearizable, "Lamp:l")
		cancel()
		if err == nil && got != "2" {
			t.Errorf("%s answers %q after a follower has answered 2", m.id, got)
		}
	}
	release()
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if got := leader.mustRead(t, "Lamp:l"); got != "2" {
		t.Errorf("the leader answers %q", got)
	}
}
