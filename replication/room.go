package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

const (
	// roomEvery is how often the free bytes of the disk are looked at.
	roomEvery = 250 * time.Millisecond
	// handOverEvery is how often a leader without room tries to hand over.
	handOverEvery = 2 * time.Second
)

// room is what a node knows of its disk. A disk that is full ends the node, since
// neither log nor state can be trusted to be whole then; a reserve that is not
// touched by writes keeps it from coming to that.
type room struct {
	free atomic.Uint64
	// short: fewer bytes than the reserve are free. tight: than half of it, so that
	// a follower takes no entries either.
	short, tight atomic.Bool
	// refusal is what the leader answers to writes: a *fact.Error, or errNotLeader
	// while it hands over to a member that has room; nil = they are taken.
	refusal atomic.Pointer[noRoom]
	// cut: entries were removed from the end of the log, and others must take their
	// place, whatever is free.
	cut atomic.Bool
}

type noRoom struct{ err error }

// mayWrite returns why this node, as the leader, takes no writes now, or nil. What it
// knows of itself counts at once, what it knows of others when it has looked.
func (n *Node) mayWrite() error {
	why := n.room.refusal.Load()
	if n.room.short.Load() {
		why = n.refuses()
	}
	if why != nil {
		return why.err
	}
	return n.behind()
}

// watchRoom looks at the disk until the node stops.
func (n *Node) watchRoom(ctx context.Context) {
	ticker := time.NewTicker(roomEvery)
	defer ticker.Stop()
	var handed time.Time
	for {
		why := n.refuses()
		n.room.refusal.Store(why)
		if why != nil && why.err == errNotLeader && time.Since(handed) > handOverEvery {
			handed = time.Now()
			n.handToRoom()
		}
		select {
		case <-ticker.C:
			n.lookAtRoom()
		case <-ctx.Done():
			return
		}
	}
}

// lookAtRoom measures the disk. What it cannot measure stays as it was. There is room
// again only once a quarter more than the reserve is free, so that the state does not
// change back and forth.
func (n *Node) lookAtRoom() {
	free, err := n.options.free()
	if err != nil {
		n.logger.Debug("abagraph.disk.unknown", "error", err)
		return
	}
	r, reserve := &n.room, n.options.DiskReserve
	r.free.Store(free)
	was := r.short.Load()
	r.tight.Store(free < reserve/2 || r.tight.Load() && free < reserve/2+reserve/8)
	r.short.Store(free < reserve || was && free < reserve+reserve/4)
	switch is := r.short.Load(); {
	case is && !was:
		n.logger.Warn("abagraph.disk.short", "node", n.options.NodeID, "free_bytes", free, "reserve_bytes", reserve)
	case !is && was:
		n.logger.Info("abagraph.disk.room", "node", n.options.NodeID, "free_bytes", free)
	}
}

// refuses decides whether this node, as the leader, takes writes: it and a majority
// need room for them.
func (n *Node) refuses() *noRoom {
	if n.raft.State() != raft.Leader {
		return nil
	}
	voters, full := 0, []string(nil)
	n.seenMu.Lock()
	for _, s := range n.servers() {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if n.shortOf(string(s.ID)) {
			full = append(full, string(s.ID))
		}
	}
	n.seenMu.Unlock()
	switch {
	case voters-len(full) <= voters/2:
		slices.Sort(full)
		return &noRoom{fact.Errorf(fact.ReadOnly, "the disk of %s is nearly full, and nothing can be written until there is room; nothing was written, and reads go on", strings.Join(full, " and of "))}
	case n.room.short.Load():
		return &noRoom{errNotLeader}
	}
	return nil
}

// shortOf reports whether a member has no room, as it told last. Of one that tells
// nothing the best is thought: it takes no part. seenMu is held.
func (n *Node) shortOf(id string) bool {
	if id == n.options.NodeID {
		return n.room.short.Load()
	}
	return n.seen[id].Short
}

// toldShort is shortOf another member, for who does not hold seenMu.
func (n *Node) toldShort(id raft.ServerID) bool {
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	return n.shortOf(string(id))
}

// handToRoom hands the leadership to a voter that has room.
func (n *Node) handToRoom() {
	for _, s := range n.otherVoters() {
		n.seenMu.Lock()
		told, known := n.seen[string(s.ID)]
		n.seenMu.Unlock()
		if !known || told.Short {
			continue
		}
		if err := n.transfer(s); err != nil {
			n.logger.Warn("abagraph.cluster.handover_error", "to", string(s.ID), "error", err)
			continue
		}
		return
	}
}

// roomProblem tells an operator of a disk that is short, or "".
func (n *Node) roomProblem() string {
	if !n.room.short.Load() {
		return ""
	}
	return fmt.Sprintf("the disk has %d bytes left, fewer than the reserve of %d: this node takes no writes until there is room", n.room.free.Load(), n.options.DiskReserve)
}
