package replication

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"abagraph/fact"
	"abagraph/internal/planted"

	"github.com/hashicorp/raft"
)

// Basis waits until this node may answer a read at a level, with at least minTx
// applied, and tells what the read may rely on (C-20, C-26). The error is a
// *fact.Error: NoLeader, Timeout or Closed.
//
// A linearizable read needs three things. The leader must have applied an entry
// of its own term (its tick), and so everything that was committed before it; its
// commit index then lies at or above every acknowledged write, and everything that
// any node has applied, from which another read may have been answered. It must
// still lead: a majority says that it is in the leader's term, after the read was
// asked for, and so no later leader had been elected then. And this node must
// have applied that index. Raft's own VerifyLeader is not used for the second: it
// also counts answers to what was sent before the read came, which a leader that
// was suspended may still find in its buffers.
func (n *Node) Basis(ctx context.Context, level fact.Level, minTx uint64) (fact.Basis, error) {
	if err := n.serving(); err != nil {
		return fact.Basis{}, err
	}
	ctx, cancel := n.limited(ctx)
	defer cancel()
	var now fact.Instant
	if level == fact.Linearizable {
		point, err := n.readPoint(ctx)
		if err != nil {
			return fact.Basis{}, err
		}
		now = point.now
	} else {
		now = n.options.Clock()
	}
	// A write is answered a moment before it can be read: whoever heard of it here reads it.
	if err := n.waitIndex(ctx, n.machine.Told()); err != nil {
		return fact.Basis{}, err
	}
	if minTx > 0 {
		if err := n.WaitTx(ctx, minTx); err != nil {
			return fact.Basis{}, err
		}
	}
	at := n.machine.Position()
	return fact.Basis{Now: max(now, at.RecordedAt), Tx: at.Tx}, nil
}

// readPoint gets a read index from the leader and waits until it is applied here.
func (n *Node) readPoint(ctx context.Context) (readPoint, error) {
	patience := n.newPatience()
	for {
		point, err := n.readIndex(ctx)
		if err == nil {
			return point, n.waitIndex(ctx, point.index)
		}
		if err := patience.wait(ctx, false); err != nil {
			return readPoint{}, err
		}
		if err := n.serving(); err != nil {
			return readPoint{}, err
		}
	}
}

// waitIndex waits until this node has applied an entry.
func (n *Node) waitIndex(ctx context.Context, index uint64) error {
	if n.machine.Position().Index >= index {
		return nil
	}
	ctx, cancel := n.unlessHasty(ctx)
	defer cancel()
	return n.waited(n.machine.WaitIndex(ctx, index))
}

// waited turns the error of a wait into one for callers.
func (n *Node) waited(err error) error {
	var e *fact.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	}
	if stopped := n.serving(); stopped != nil {
		return stopped
	}
	return fact.Errorf(fact.Timeout, "this node did not catch up in the time allowed; nothing was read")
}

// WaitTx waits until this node has applied a tx. The error is a *fact.Error.
func (n *Node) WaitTx(ctx context.Context, tx uint64) error {
	if err := n.serving(); err != nil {
		return err
	}
	if n.machine.Position().Tx >= tx {
		return nil
	}
	ctx, cancel := n.unlessHasty(ctx)
	defer cancel()
	err := n.waited(n.machine.WaitTx(ctx, tx))
	if fact.CodeOf(err) == fact.Timeout {
		e := fact.Errorf(fact.Timeout, "tx %d has not been applied on this node in the time allowed: it is at tx %d; nothing was read",
			tx, n.machine.Position().Tx)
		e.Field = "min_tx"
		return e
	}
	return err
}

// readIndex joins a round, here or on the leader. A leader that is alone needs none:
// nobody can be elected without it, and nobody else answers.
func (n *Node) readIndex(ctx context.Context) (readPoint, error) {
	if s := n.leadership.Load(); s != nil && (s.isReady() && n.aloneLeads(s.term) || planted.Bug == planted.StaleLeader) {
		return n.pointAt(n.machine.Position()), nil
	}
	return n.reads.join(ctx)
}

// pointAt begins with what was answered, which the state may have still to get.
func (n *Node) pointAt(at fact.Position) readPoint {
	return readPoint{index: n.machine.Told(), now: max(n.options.Clock(), at.RecordedAt)}
}

// committedPoint is the last command that is committed. Another node may have applied
// it, and answered by it, before this one has. Entries of Raft's own are passed over:
// no state machine waits for them.
func (n *Node) committedPoint() (readPoint, error) {
	at := n.machine.Position()
	point := n.pointAt(at)
	var l raft.Log
	for index := n.raft.CommitIndex(); index > at.Index; index-- {
		if err := n.guarded.GetLog(index, &l); err != nil {
			return readPoint{}, fmt.Errorf("read committed entry %d: %w", index, err)
		}
		if l.Type == raft.LogCommand {
			point.index = index
			break
		}
	}
	return point, nil
}

// aloneLeads reports whether this node leads in a term and the cluster has no other.
func (n *Node) aloneLeads(term uint64) bool {
	return n.raft.State() == raft.Leader && n.raft.CurrentTerm() == term && len(n.servers()) == 1
}

// fetchPoint performs one round: on the leader a check by a majority, elsewhere
// one call to the leader, which joins its next round.
func (n *Node) fetchPoint() (readPoint, error) {
	ctx, cancel := context.WithTimeout(n.ctx, n.options.Election)
	defer cancel()
	if n.raft.State() == raft.Leader {
		return n.confirmedPoint(ctx)
	}
	address, ok := n.leaderAddress()
	if !ok {
		return readPoint{}, errNotLeader
	}
	v, payload, err := n.calls.call(ctx, address, streamControl, methodReadIndex, nil)
	switch {
	case err != nil:
		return readPoint{}, fmt.Errorf("%w: %w", errNotLeader, err)
	case v != verdictDone || len(payload) != 16:
		return readPoint{}, errNotLeader
	}
	return readPoint{
		index: binary.BigEndian.Uint64(payload),
		now:   fact.Instant(binary.BigEndian.Uint64(payload[8:])),
	}, nil
}

// confirmedPoint is fetchPoint on the leader.
func (n *Node) confirmedPoint(ctx context.Context) (readPoint, error) {
	s := n.leadership.Load()
	if s == nil {
		return readPoint{}, errNotLeader
	}
	select {
	case <-s.ready:
	case <-s.ctx.Done():
		return readPoint{}, errNotLeader
	case <-ctx.Done():
		return readPoint{}, ctx.Err()
	}
	point, err := n.committedPoint()
	if err != nil {
		return readPoint{}, err
	}
	return point, n.confirm(ctx, s.term)
}

// confirm asks the other voters whether they are still in this node's term, and
// returns when a majority, this node included, is.
func (n *Node) confirm(ctx context.Context, term uint64) error {
	others := n.otherVoters()
	need := (len(others) + 1) / 2 // of the others; this node makes the majority
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	votes := make(chan bool, len(others))
	for _, voter := range others {
		if !n.spawn(func() { votes <- n.confirms(ctx, voter, term) }) {
			return errNotLeader
		}
	}
	for asked := len(others); need > 0; asked-- {
		if asked < need {
			return fmt.Errorf("%w: no majority answers", errNotLeader)
		}
		if <-votes {
			need--
		}
	}
	if n.raft.State() != raft.Leader || n.raft.CurrentTerm() != term {
		return errNotLeader
	}
	return nil
}

func (n *Node) confirms(ctx context.Context, voter raft.Server, term uint64) bool {
	v, payload, err := n.calls.call(ctx, string(voter.Address), streamControl, methodConfirm, []byte(voter.ID))
	return err == nil && v == verdictDone && len(payload) == 8 && binary.BigEndian.Uint64(payload) == term
}

// serveConfirm tells the term that this node is in. A node that was asked for by
// another name is not the voter that was meant.
func (n *Node) serveConfirm(payload []byte) ([]byte, error) {
	if string(payload) != n.options.NodeID {
		return nil, fact.Errorf(fact.NotFound, "this node is %s", n.options.NodeID)
	}
	if err := n.serving(); err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(nil, n.raft.CurrentTerm()), nil
}

func (n *Node) serveReadIndex(ctx context.Context) ([]byte, error) {
	if n.raft.State() != raft.Leader || n.serving() != nil {
		return nil, errNotLeader
	}
	point, err := n.readIndex(ctx)
	if err != nil {
		return nil, errNotLeader
	}
	b := binary.BigEndian.AppendUint64(nil, point.index)
	return binary.BigEndian.AppendUint64(b, uint64(point.now)), nil
}

// otherVoters are the voters of the latest configuration but this node.
func (n *Node) otherVoters() []raft.Server {
	var out []raft.Server
	for _, s := range n.servers() {
		if s.Suffrage == raft.Voter && string(s.ID) != n.options.NodeID {
			out = append(out, s)
		}
	}
	return out
}

// servers are the members of the latest configuration.
func (n *Node) servers() []raft.Server {
	future := n.raft.GetConfiguration()
	if future.Error() != nil {
		return nil
	}
	return future.Configuration().Servers
}
