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
	var silent atomic.Pointer[[2]string] // who dials, and which address does not answer
	over := make(chan struct{})
	c := three(t, func(o *Options) {
		from, dial := o.NodeID, o.dial
		o.Election = 100 * time.Millisecond
		o.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if pair := silent.Load(); pair != nil && *pair == [2]string{from, address} {
				<-over
				return nil, errCut
			}
			return dial(ctx, address)
		}
	})
	defer close(over)
	leader, other := c.leader(), c.follower()
	silent.Store(&[2]string{leader.id, other.address})
	c.wires.set(leader.id, other.id, true)
	leader.mustWrite(t, write("Lamp:l", 1))
	refused := 0
	eventually(t, "a handover that does not end", func() bool {
		err := leader.settled(leader.raft.LeadershipTransferToServer(raft.ServerID(other.id), raft.ServerAddress(other.address)))
		if refused++; !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			refused = 0 // it came to its end
		}
		return refused > 20
	})
	c.wires.set(leader.id, other.id, false)
	if _, err := leader.Propose(soon(t), write("Lamp:l", 2)); err == nil {
		t.Fatal("a write was taken amid a handover that does not end")
	}
	eventually(t, "the node has stopped", func() bool { return leader.Err() != nil })
	if err := leader.Err(); !strings.Contains(err.Error(), "handover") {
		t.Errorf("it says %v", err)
	}
	for _, m := range c.members {
		if m != leader {
			m.mustWrite(t, write("Lamp:l", 3))
		}
	}
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
