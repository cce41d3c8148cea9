package replication

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// backlog is what lies in the log and has still to be applied. Commits can run ahead of
// it: others make the majority, and the state machine of this node is busy with a
// compaction, or its disk is slow. Raft keeps what waits in memory, and counts it in
// entries, of which one may have 64 MiB.
type backlog struct {
	mu   sync.Mutex
	held []heldEntry // by index
	// before is the total in front of the first one.
	before uint64
	moved  *broadcast
	busy   spell // of the state machine, at what it was given
}

// heldEntry is one entry, with the bytes of all up to it since the start.
type heldEntry struct{ index, total uint64 }

func newBacklog() *backlog { return &backlog{moved: newBroadcast(), busy: newSpell()} }

// stored takes down entries that were written to the log; they replace what had their
// indexes.
func (b *backlog) stored(logs []*raft.Log) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(logs) == 0 {
		return
	}
	b.held = b.held[:b.upTo(logs[0].Index-1)]
	total := b.before
	if n := len(b.held); n > 0 {
		total = b.held[n-1].total
	}
	for _, l := range logs {
		total += uint64(len(l.Data))
		b.held = append(b.held, heldEntry{l.Index, total})
	}
}

// upTo is how many entries are held up to an index. mu is held.
func (b *backlog) upTo(index uint64) int {
	n, _ := slices.BinarySearchFunc(b.held, index+1, func(e heldEntry, i uint64) int { return cmp.Compare(e.index, i) })
	return n
}

// applied lets go of the entries up to an index: the state machine has done with what
// it was given.
func (b *backlog) applied(index uint64) {
	b.busy.end()
	b.mu.Lock()
	if n := b.upTo(index); n > 0 {
		b.before = b.held[n-1].total
		b.held = b.held[n:]
	}
	b.mu.Unlock()
	b.moved.announce()
}

// bytes is how many bytes of entries up to an index have still to be applied. Entries
// that were in the log before this process are not counted.
func (b *backlog) bytes(commit uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.upTo(commit)
	if n == 0 {
		return 0
	}
	return b.held[n-1].total - b.before
}

// behind returns why this node, as the leader, takes no writes because its own state
// machine does not keep up, or nil. What is committed then is applied as fast as it can
// be, and a write that was taken would wait behind all of it, for longer than its
// caller does.
func (n *Node) behind() error {
	commit := n.raft.CommitIndex()
	switch {
	case n.logHangs():
		return fact.Errorf(fact.RateLimited, "the log of %s hangs at a write, and another node is to lead; nothing was written, try again in a moment", n.options.NodeID)
	case n.lag() > n.options.LagEntries, n.backlog.bytes(commit) > n.options.LagBytes:
		return fact.Errorf(fact.RateLimited, "%d committed entries wait to be applied on %s, which leads; nothing was written, try again in a moment", n.lag(), n.options.NodeID)
	case n.backlog.busy.lasts() > n.options.LagTime:
		return fact.Errorf(fact.RateLimited, "the state of %s, which leads, stands still; nothing was written, try again in a moment", n.options.NodeID)
	}
	return nil
}

// logHangs reports whether the log has been at one write for longer than it may. Raft's
// main loop waits for it: it hands nothing over, and does not see that it leads no more.
func (n *Node) logHangs() bool { return n.guarded.writing.lasts() > n.options.LagTime }

// hangProblem tells an operator of it, or "".
func (n *Node) hangProblem() string {
	if !n.logHangs() {
		return ""
	}
	return fmt.Sprintf("the log has been at one write for %s: the disk does not answer", n.guarded.writing.lasts().Round(time.Second))
}

// handToReady hands the leadership to a voter that has applied more than this node, if
// this one is behind.
func (n *Node) handToReady() {
	if n.raft.State() != raft.Leader || n.behind() == nil || n.logHangs() {
		return
	}
	own := n.machine.Position().Index
	for _, s := range n.otherVoters() {
		n.seenMu.Lock()
		told, known := n.seen[string(s.ID)]
		n.seenMu.Unlock()
		if !known || told.Short || told.Applied <= own {
			continue
		}
		n.logger.Warn("abagraph.cluster.behind", "node", n.options.NodeID, "entries", n.lag(), "to", string(s.ID))
		if err := n.transfer(s); err != nil {
			n.logger.Warn("abagraph.cluster.handover_error", "to", string(s.ID), "error", err)
			continue
		}
		return
	}
}

// awaitApplied waits while too many bytes that are committed wait on this node. Raft
// asks in its main loop, and waits there by itself where too many entries do. What the
// leader sends meanwhile it sends again; heartbeats are answered beside it.
func (n *Node) awaitApplied() {
	for {
		moved := n.backlog.moved.next()
		if n.backlog.bytes(n.raft.CommitIndex()) <= n.options.LagBytes {
			return
		}
		select {
		case <-moved:
		case <-n.stopped:
			return
		}
	}
}
