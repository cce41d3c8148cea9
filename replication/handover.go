package replication

import (
	"cmp"
	"context"
	"errors"
	"time"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// transfer hands the leadership to a voter.
func (n *Node) transfer(to raft.Server) error {
	if err := n.settled(n.raft.LeadershipTransferToServer(to.ID, to.Address)); err != nil {
		return fact.Errorf(fact.Conflict, "the leadership was not handed over: %s", err)
	}
	n.logger.Info("abagraph.cluster.handed_over", "to", string(to.ID))
	return nil
}

// transferTo hands the leadership to the member that was asked for, or to the one that
// is farthest.
func (n *Node) transferTo(ctx context.Context, to raft.Server) error {
	switch {
	case string(to.ID) == n.options.NodeID:
		return nil
	case to.ID != "" && to.Suffrage != raft.Voter:
		return fact.Errorf(fact.Conflict, "%s has no vote and cannot lead", to.ID)
	case len(n.otherVoters()) == 0:
		return fact.Errorf(fact.Conflict, "there is no other voter to hand the leadership to")
	}
	heir, ok := n.heir(ctx, to.ID)
	if !ok {
		return fact.Errorf(fact.Conflict, "%s does not answer, or has still to be sent a snapshot: the leadership was not handed over", cmp.Or(string(to.ID), "every other voter"))
	}
	return n.transfer(heir)
}

// heir returns a voter that answers and needs no snapshot, the farthest of them where
// none is named. Raft takes no writes while it waits for the one that it hands over to,
// and asked twice to wait for one that it cannot reach it does so without an end.
func (n *Node) heir(ctx context.Context, id raft.ServerID) (best raft.Server, ok bool) {
	first, err := n.store.FirstIndex()
	if err != nil {
		return best, false
	}
	n.askPeers(ctx)
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	var farthest uint64
	for _, s := range n.otherVoters() {
		told, answers := n.seen[string(s.ID)]
		if !answers || id != "" && s.ID != id || told.Applied+1 < first {
			continue
		}
		if !ok || told.Applied > farthest {
			best, farthest, ok = s, told.Applied, true
		}
	}
	return best, ok
}

// suspect looks after a handover that Raft says is under way. One that waits for a
// member for ever is never given up, not even when this node leads again later, and as
// long Raft takes no entry (github.com/hashicorp/raft/issues/696).
func (n *Node) suspect(err error) {
	if !errors.Is(err, raft.ErrLeadershipTransferInProgress) || !n.suspecting.CompareAndSwap(false, true) {
		return
	}
	if !n.spawn(n.awaitHandover) {
		n.suspecting.Store(false)
	}
}

// awaitHandover waits until a handover ends, and stops the node if it does not.
func (n *Node) awaitHandover() {
	defer n.suspecting.Store(false)
	for end := time.Now().Add(n.handoverLimit()); time.Now().Before(end); {
		pause(n.ctx, n.options.Election/10)
		if n.serving() != nil {
			return
		}
		tick := n.raft.Apply(entry.EncodeTick(n.stamp()), n.enqueueLimit())
		if !errors.Is(n.settled(tick), raft.ErrLeadershipTransferInProgress) {
			return
		}
	}
	n.fail(errors.New("a handover of the leadership does not come to an end, and nothing is written meanwhile; the node is well again when it is started again"))
}

// handoverLimit is longer than a handover can take: the member catches up, is told, and
// is elected.
func (n *Node) handoverLimit() time.Duration {
	return 4*n.options.Election + greetingWait + n.options.transportLimit()
}
