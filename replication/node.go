package replication

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"abagraph/fact"
	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// Node is one member of a cluster. All methods are safe for concurrent use.
type Node struct {
	options Options
	logger  *slog.Logger
	machine StateMachine
	store   *rlog.Store
	guarded *guardedLog // the log as Raft has it
	snaps   *snapshots
	adapter *adapter
	port    *port    // nil = the node is alone
	calls   *callers // nil likewise
	raft    *raft.Raft

	proposer *proposer
	reads    *rounds
	metrics  *metrics

	leadership atomic.Pointer[leadership]
	moved      *broadcast    // the leader may have changed
	changing   chan struct{} // held by whoever changes the membership
	alone      *clusterID    // of a node without a peer port
	reader     atomic.Bool   // it asks for no vote
	disk       diskUse
	room       room
	backlog    *backlog
	untraced   atomic.Pointer[olderPeer]
	suspecting atomic.Bool   // a handover may not end
	backing    chan struct{} // held while a backup is under way

	seenMu  sync.Mutex
	seen    map[string]peerStatus
	refused map[string]string // why members that run do not talk to this node
	// unlikeTold is what was logged last of settings that differ.
	unlikeTold atomic.Pointer[string]

	// ctx ends when the node begins to stop; stopped is closed when it serves
	// no more, raftDone when Raft has ended.
	ctx      context.Context
	cancel   context.CancelFunc
	stopped  chan struct{}
	raftDone chan struct{}
	stopOnce sync.Once
	hasty    context.Context // ends a moment before the node does
	beHasty  context.CancelFunc
	failure  atomic.Pointer[fact.Error]
	problem  atomic.Pointer[problem]

	spawnMu sync.Mutex
	closed  bool
	wg      sync.WaitGroup
	endRaft sync.Once
	ending  sync.Once
	result  error
}

// problem is something that an operator should know and that does not stop the
// node.
type problem struct {
	what string
	by   string    // of a claim: the node that made it
	at   time.Time // and when it did last
}

func (c clusterID) String() string { return hex.EncodeToString(c[:]) }

// spawn runs a function in a goroutine that Close waits for; false = the node
// has closed.
func (n *Node) spawn(f func()) bool {
	n.spawnMu.Lock()
	defer n.spawnMu.Unlock()
	if n.closed {
		return false
	}
	n.wg.Add(1)
	go func() {
		defer n.wg.Done()
		f()
	}()
	return true
}

// serving returns why the node serves nothing any more, or nil.
func (n *Node) serving() error {
	if e := n.failure.Load(); e != nil {
		return e
	}
	select {
	case <-n.stopped:
		return fact.Errorf(fact.Closed, "the node is shutting down")
	default:
		return nil
	}
}

// fail stops the node because its state can no longer be trusted to follow the
// log. It answers every request with Closed and the reason from then on, and
// leaves Raft, so that another node leads.
func (n *Node) fail(err error) {
	e := fact.Errorf(fact.Closed, "this node has stopped: %s", err)
	if !n.failure.CompareAndSwap(nil, e) {
		return
	}
	n.logger.Error("abagraph.node.stopped", "node", n.options.NodeID, "error", err)
	n.stopServing()
	n.spawn(n.stopRaft)
}

// Failed is closed when the node serves no more; Err tells why.
func (n *Node) Failed() <-chan struct{} { return n.stopped }

// Err returns the failure that stopped the node, or nil.
func (n *Node) Err() error {
	if e := n.failure.Load(); e != nil {
		return e
	}
	return nil
}

func (n *Node) stopServing() {
	n.stopOnce.Do(func() { close(n.stopped) })
	n.moved.announce()
}

// stopRaft ends Raft and waits for it; after it nothing is applied any more. The
// connections are ended in between, since Raft waits for what it has sent.
func (n *Node) stopRaft() {
	n.endRaft.Do(func() {
		ending := n.raft.Shutdown()
		if n.port != nil {
			n.port.hangUp()
		}
		if err := ending.Error(); err != nil {
			n.logger.Warn("abagraph.node.stop_error", "error", err)
		}
		close(n.raftDone)
	})
	<-n.raftDone
}

// Close stops the node within a bounded time: it takes no more writes, lets those
// under way end, hands the leadership to another voter, and closes the port and
// the log. The state machine is left to its owner, and nothing is applied to it
// after Close has returned.
func (n *Node) Close() error {
	n.ending.Do(func() {
		n.stopServing()
		if n.failure.Load() == nil {
			n.proposer.drain(shutdownWait)
			n.handOver()
		}
		n.stopRaft()
		n.cancel()
		n.spawnMu.Lock()
		n.closed = true
		n.spawnMu.Unlock()
		if n.port != nil {
			n.port.close()
		}
		n.wg.Wait()
		n.metrics.unregister()
		n.result = n.store.Close()
	})
	return n.result
}

// handOver gives the leadership away, if there is anyone to take it.
func (n *Node) handOver() {
	if n.raft.State() != raft.Leader || len(n.otherVoters()) == 0 {
		return
	}
	if err := n.settled(n.raft.LeadershipTransfer()); err != nil {
		n.logger.Warn("abagraph.cluster.handover_error", "error", err)
	}
}

// Position tells where this node's state machine stands.
func (n *Node) Position() fact.Position { return n.machine.Position() }

// Leads reports whether this node leads and has applied everything that was
// committed before it did. A leader that has been cut off may say so until its
// lease ends: what must not be stale asks Basis.
func (n *Node) Leads() bool {
	s := n.leadership.Load()
	return s != nil && s.isReady() && n.raft.State() == raft.Leader
}

// Ready reports whether the node can serve: it is a member and knows a leader.
func (n *Node) Ready() bool {
	if n.serving() != nil || n.cluster() == nil {
		return false
	}
	_, ok := n.leaderAddress()
	return ok
}

// WaitReady waits until Ready. The error is a *fact.Error.
func (n *Node) WaitReady(ctx context.Context) error {
	for !n.Ready() {
		if err := n.serving(); err != nil {
			return err
		}
		moved := n.leaderMoved()
		if n.Ready() {
			return nil
		}
		select {
		case <-moved:
		case <-n.stopped:
		case <-ctx.Done():
			return n.noLeader()
		}
	}
	return nil
}

// PeerAddress returns what other nodes reach this one by, or "".
func (n *Node) PeerAddress() string {
	if n.port == nil {
		return ""
	}
	return n.port.advertise
}

func (n *Node) cluster() *clusterID {
	if n.port == nil {
		return n.alone
	}
	return n.port.cluster.Load()
}

// leaderAddress is where the leader is, if one is known.
func (n *Node) leaderAddress() (string, bool) {
	address, id := n.raft.LeaderWithID()
	return string(address), address != "" && id != ""
}

// leaderMoved returns a channel that is closed when the leader may have changed.
func (n *Node) leaderMoved() <-chan struct{} { return n.moved.next() }

// lag is how many committed entries this node has still to apply.
func (n *Node) lag() uint64 {
	commit := n.raft.CommitIndex()
	return commit - min(commit, n.adapter.seen.Load())
}

// watchLeader announces every change of the leader that Raft observes.
func (n *Node) watchLeader(seen <-chan raft.Observation) {
	for {
		select {
		case <-seen:
			n.moved.announce()
		case <-n.raftDone:
			n.moved.announce()
			return
		}
	}
}

// checkLog refuses a log that does not belong to the state: both came from the
// same disk at the same time, or one of them has been replaced or cut.
func (n *Node) checkLog() error {
	at := n.machine.Position()
	last, err := n.store.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	last = max(last, n.snapshotIndex())
	if at.Index > last {
		return fmt.Errorf("the log ends at entry %d, but the state has applied entry %d: a part of the log is missing", last, at.Index)
	}
	var l raft.Log
	if err := n.store.GetLog(at.Index, &l); err == nil && l.Term != at.Term {
		return fmt.Errorf("entry %d of the log is of term %d, but the state has applied one of term %d: they do not belong together", at.Index, l.Term, at.Term)
	}
	return nil
}
