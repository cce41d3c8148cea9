package replication

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// guardedLog is the log as Raft uses it. Raft panics, in a goroutine of its own
// and so for the whole process, when it cannot read an entry that it needs or
// cannot write its term. Here the node is stopped with the reason instead, and
// the goroutine that asked is ended.
type guardedLog struct {
	*rlog.Store
	fail    func(error)
	running atomic.Bool // until then it is Open's own goroutine that asks
	room    *room
	backlog *backlog
	await   func() // until there is room for more that has to be applied
	leads   func() bool
	// installed is the index of a snapshot that was just restored, until Raft has
	// removed what lay in front of it.
	installed atomic.Uint64
	newest    func() (snapMeta, bool) // snapshot
	writing   spell                   // of the entries that are being written
}

// errTight is told to the leader of a follower whose disk is nearly full: it sends the
// entries again.
var errTight = errors.New("the disk is nearly full, and the entries were not taken")

// tight reports whether entries that a leader sends are not taken. A leader's own ones
// always are: it has refused what was not its own.
func (g *guardedLog) tight() bool {
	return g.running.Load() && g.room.tight.Load() && !g.leads()
}

// GetLog reads an entry. Of the last one in front of the log it tells the term, which
// the snapshot has.
func (g *guardedLog) GetLog(index uint64, l *raft.Log) error {
	err := g.Store.GetLog(index, l)
	var damage *rlog.Damage
	switch {
	case errors.As(err, &damage):
		g.give(err)
	case errors.Is(err, raft.ErrLogNotFound) && g.inFront(index, l):
		return nil
	}
	return err
}

// inFront fills in the entry at which the newest snapshot ends, if the log begins behind
// it. A member asks for it when a leader's entries begin there while the member's own
// ones, of a former leader, go further. Raft finds the end of a snapshot only where
// nothing follows it, refuses, and is sent the same snapshot without end
// (github.com/hashicorp/raft/issues/697). Only the term is asked for: whoever wants
// to send the entry itself has to know the one before it first, which is gone. The first
// entry has none before it.
func (g *guardedLog) inFront(index uint64, l *raft.Log) bool {
	at, ok := g.newest()
	if !ok || index <= 1 || at.Raft.Index != index {
		return false
	}
	if first, err := g.FirstIndex(); err != nil || first != 0 && first != index+1 {
		return false
	}
	*l = raft.Log{Index: index, Term: at.Raft.Term, Type: raft.LogNoop}
	return true
}

// SetUint64 writes a term.
func (g *guardedLog) SetUint64(key []byte, v uint64) error {
	err := g.Store.SetUint64(key, v)
	if err != nil {
		g.give(fmt.Errorf("write %s to the log: %w", key, err))
	}
	return err
}

// StoreLogs writes entries. A disk that refuses them refuses the next ones too,
// while votes may still fit: the node would lead without end and answer no write.
func (g *guardedLog) StoreLogs(logs []*raft.Log) error {
	if g.tight() && !g.room.cut.Load() {
		return errTight
	}
	if g.running.Load() && !g.leads() {
		g.await()
	}
	g.writing.begin()
	defer g.writing.end()
	g.installed.Store(0)
	err := g.Store.StoreLogs(logs)
	switch {
	case err == nil:
		g.backlog.stored(logs)
	case g.running.Load():
		g.fail(err)
	}
	g.room.cut.Store(false)
	return err
}

// DeleteRange removes entries. From the end it does so only where others can take
// their place: Raft goes on as if they were there still.
func (g *guardedLog) DeleteRange(lo, hi uint64) error {
	last, err := g.LastIndex()
	if err != nil {
		return err
	}
	if after := g.installed.Swap(0); after != 0 && hi >= last {
		// Raft clears the whole log of what was before an install, and takes the end of
		// it for there still. The same snapshot can come twice, by the replication of a
		// member that was removed and that of its successor: what follows it stays, and
		// is applied again.
		if hi = min(hi, after); hi < lo {
			return nil
		}
	}
	fromEnd := hi >= last
	if first, err := g.FirstIndex(); err == nil && fromEnd && lo > first && g.tight() {
		return errTight
	}
	if fromEnd {
		g.room.cut.Store(true)
	}
	return g.Store.DeleteRange(lo, hi)
}

func (g *guardedLog) give(err error) {
	if g.running.Load() {
		g.fail(err)
		runtime.Goexit()
	}
}
