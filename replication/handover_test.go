package replication

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// TestAHandoverThatDoesNotEnd: Raft hands over to a member that it cannot reach, and is
// asked again. It takes no entry from then on; the node stops, and the others go on.
func TestAHandoverThatDoesNotEnd(t *testing.T) {
	var hushed atomic.Pointer[hush]
	c := three(t, func(o *Options) {
		from, dial := o.NodeID, o.dial
		o.Election = 100 * time.Millisecond
		o.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if h := hushed.Load(); h != nil && h.from == from && h.to == address {
				<-h.over
				return nil, errCut
			}
			return dial(ctx, address)
		}
	})
	var leader *member
	eventually(t, "a leader that keeps its place until its handover hangs", func() bool {
		var over func()
		leader, over = c.hangingHandover(&hushed)
		defer over()
		return leader.Err() != nil
	})
	if err := leader.Err(); !strings.Contains(err.Error(), "handover") {
		t.Errorf("it says %v", err)
	}
	for _, m := range c.members {
		if m != leader {
			m.mustWrite(t, write("Lamp:l", 3))
		}
	}
}

// hush is who dials whom and hears nothing until it is over.
type hush struct {
	from, to string
	over     chan struct{}
}

// hangingHandover has a leader hand over to a follower that does not answer, and waits
// until the leader has stopped or lost its place.
func (c *cluster) hangingHandover(hushed *atomic.Pointer[hush]) (leader *member, over func()) {
	c.t.Helper()
	leader, other := c.leader(), c.follower()
	term := leader.raft.CurrentTerm()
	lost := func() bool { return leader.Err() == nil && leader.raft.CurrentTerm() != term }
	h := &hush{leader.id, other.address, make(chan struct{})}
	hushed.Store(h)
	over = func() {
		hushed.Store(nil)
		close(h.over)
	}
	c.wires.set(leader.id, other.id, true)
	eventually(c.t, "a write beside it", func() bool {
		_, err := leader.Propose(soon(c.t), write("Lamp:l", 1))
		return err == nil || leader.Err() != nil || lost()
	})
	refused := 0
	eventually(c.t, "a handover that does not end", func() bool {
		ended := make(chan error, 1)
		go func() {
			ended <- leader.settled(leader.raft.LeadershipTransferToServer(raft.ServerID(other.id), raft.ServerAddress(other.address)))
		}()
		var err error
		select {
		case err = <-ended:
		case <-time.After(time.Second): // Raft itself waits: it has lost its place meanwhile
		}
		if refused++; !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			refused = 0 // it came to its end
		}
		return refused > 20 || leader.Err() != nil || lost()
	})
	c.wires.set(leader.id, other.id, false)
	if _, err := leader.Propose(soon(c.t), write("Lamp:l", 2)); err == nil && !lost() {
		c.t.Fatal("a write was taken amid a handover that does not end")
	}
	eventually(c.t, "the node has stopped", func() bool { return leader.Err() != nil || lost() })
	return leader, over
}

// TestNoHandoverToWhoDoesNotAnswer: it is refused at once, and nothing waits for it.
func TestNoHandoverToWhoDoesNotAnswer(t *testing.T) {
	c := three(t, nil)
	leader, other := c.leader(), c.follower()
	c.wires.isolate(other.id, c.members, true)
	leader.mustWrite(t, write("Lamp:l", 1))
	err := leader.Transfer(soon(t), other.id)
	if fact.CodeOf(err) != fact.Conflict || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a handover to %s, which is cut off: %v", other.id, err)
	}
	if err := leader.Transfer(soon(t), ""); err != nil {
		t.Errorf("a handover to the one that is there: %v", err)
	}
	if _, id := leader.raft.LeaderWithID(); string(id) == other.id {
		t.Error("the one that is cut off leads")
	}
}
