package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/planted"
	"abagraph/internal/span"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// leadership is one time that this node leads.
type leadership struct {
	ctx    context.Context
	cancel context.CancelFunc
	term   uint64 // valid once ready is closed
	ready  chan struct{}
}

func (s *leadership) isReady() bool {
	select {
	case <-s.ready:
		return s.ctx.Err() == nil
	default:
		return false
	}
}

// watchLeadership starts and ends a leadership whenever Raft says so.
func (n *Node) watchLeadership(notices <-chan bool) {
	var current *leadership
	end := func() {
		if current != nil {
			current.cancel()
			if planted.Bug != planted.StaleLeader {
				n.leadership.Store(nil)
			}
			current = nil
		}
	}
	defer end()
	for {
		select {
		case leads := <-notices:
			end()
			n.moved.announce()
			if !leads {
				continue
			}
			n.metrics.elections.Inc()
			ctx, cancel := context.WithCancel(n.ctx)
			current = &leadership{ctx: ctx, cancel: cancel, ready: make(chan struct{})}
			n.leadership.Store(current)
			s := current
			n.spawn(func() { n.lead(s) })
		case <-n.raftDone:
			return
		}
	}
}

// lead does what only a leader does, until it leads no more.
func (n *Node) lead(s *leadership) {
	if !n.tick(s) {
		return
	}
	n.logger.Info("abagraph.cluster.leads", "node", n.options.NodeID, "term", s.term)
	n.fixOwnAddress(s.ctx)
	sweep := newTicker(n.options.SweepInterval)
	defer sweep.Stop()
	check := newTicker(n.options.CheckInterval)
	defer check.Stop()
	var checked uint64
	for {
		select {
		case <-sweep.C:
			if n.mayWrite() == nil {
				n.sweep(s.ctx)
			}
		case <-check.C:
			if n.mayWrite() == nil {
				checked = n.check(s.ctx, checked)
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// newTicker is a ticker that a negative interval turns off.
func newTicker(every time.Duration) *time.Ticker {
	if every > 0 {
		return time.NewTicker(every)
	}
	t := time.NewTicker(time.Hour)
	t.Stop()
	return t
}

// tick proposes one entry of the new term. Raft's own no-op never reaches the
// state machine, so that without it nobody could see that everything committed
// before has been applied.
func (n *Node) tick(s *leadership) bool {
	for s.ctx.Err() == nil {
		_, err := n.applyEntry(entry.EncodeTick(n.stamp()))
		at := n.machine.Position()
		if err == nil && n.raft.State() == raft.Leader && n.raft.CurrentTerm() == at.Term {
			s.term = at.Term
			close(s.ready)
			return true
		}
		select {
		case <-time.After(firstPause):
		case <-s.ctx.Done():
		}
	}
	return false
}

// applyEntry has an entry of the leader's own committed and applied.
func (n *Node) applyEntry(data []byte) (applied, error) {
	return n.await(n.raft.Apply(data, n.enqueueLimit()))
}

// sweep deletes what has expired and ends what is due, in entries of bounded
// size, one after the other (C-17), and tells how much it deleted.
func (n *Node) sweep(ctx context.Context) {
	removed := 0
	defer func() {
		if removed > 0 {
			n.logger.Info("abagraph.ttl.swept", "removed", removed)
		}
	}()
	for more := true; more && ctx.Err() == nil; {
		report, err := n.sweepOnce()
		if err != nil && !errors.Is(err, errNotLeader) {
			n.logger.Warn("abagraph.ttl.sweep_error", "error", err)
		}
		if err != nil || report == nil {
			return
		}
		removed += report.Removed
		more = report.More
	}
}

// sweepOnce proposes one sweep; nil where nothing is due.
func (n *Node) sweepOnce() (*fsm.SweepReport, error) {
	now := n.now()
	due, err := n.machine.SweepDue(now)
	if err != nil {
		return nil, fmt.Errorf("look for expired facts: %w", err)
	}
	if !due {
		return nil, nil
	}
	_, part := span.Work(context.Background(), n.options.Tracer, "work sweep")
	defer part.End()
	done, err := n.applyEntry(entry.EncodeSweep(now))
	if err != nil {
		part.Fail(string(fact.CodeOf(err)))
	} else if done.Sweep != nil {
		part.Int("abagraph.removed", int64(done.Sweep.Removed))
	}
	return done.Sweep, err
}

// check proposes the digest of the state at the newest tx: a node whose state
// differs there stops. It returns the tx that was checked last.
func (n *Node) check(ctx context.Context, last uint64) uint64 {
	tx := n.machine.Position().Tx
	if tx == last || ctx.Err() != nil {
		return last
	}
	digest, err := n.machine.DigestAt(tx)
	if err != nil {
		n.logger.Warn("abagraph.cluster.check_error", "tx", tx, "error", err)
		return last
	}
	if _, err := n.applyEntry(entry.EncodeCheck(n.stamp(), tx, digest)); err != nil {
		return last
	}
	return tx
}

// stamp is the time that an entry is proposed at. The state machine ratchets it,
// since stamps may enter the log out of order (C-23).
func (n *Node) stamp() fact.Instant { return n.options.Clock() }

// now is the clock, never earlier than the newest record time applied (C-20).
func (n *Node) now() fact.Instant {
	return max(n.options.Clock(), n.machine.Position().RecordedAt)
}

// enqueueLimit is how long an entry may wait for Raft to take it.
func (n *Node) enqueueLimit() time.Duration { return 2 * n.options.Election }
