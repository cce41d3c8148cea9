package replication

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	rlog "abagraph/log"
)

// MemberReport is one member of the cluster and what it tells of itself.
type MemberReport struct {
	Peer
	// Digest is that of the state at Tx, in hexadecimal.
	Digest        string
	Term          uint64
	Epoch         string
	Reader        bool // an operator has taken its vote until it is promoted
	LogBytes      uint64
	SnapshotIndex uint64
	Disk          rlog.Usage
	Problem       string
}

// Report asks every member how it stands and waits for those that answer, half a
// second at most.
func (n *Node) Report(ctx context.Context) (Status, []MemberReport) {
	if n.port != nil {
		n.askPeers(ctx)
	}
	status := n.Status()
	own := n.ownStatus()
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	var all []MemberReport
	for _, p := range status.Peers {
		told, ok := n.seen[p.ID]
		if p.Self {
			told, ok = own, true
		}
		r := MemberReport{Peer: p}
		if n.port == nil {
			r.Address = "" // Raft's own word for it reaches nobody
		}
		if ok {
			r.Digest, r.Epoch, r.Reader, r.Problem = told.Digest, told.Epoch, told.Reader, told.Problem
			r.LogBytes, r.SnapshotIndex, r.Disk = told.LogBytes, told.Snapshot, told.Disk
			r.Term = told.Term
			if p.Self {
				r.Problem = status.Problem
			}
		} else {
			r.Problem = n.refused[p.ID]
		}
		all = append(all, r)
	}
	return status, all
}

// ownStatus is what this node tells others of itself.
func (n *Node) ownStatus() peerStatus {
	at := n.machine.Position()
	s := peerStatus{
		Applied: at.Index, Tx: at.Tx, Term: n.raft.CurrentTerm(), Digest: hex.EncodeToString(at.Digest[:]), Epoch: at.Epoch,
		Reader: n.reader.Load(), LogBytes: n.store.Stats().LogBytes, Snapshot: n.snapshotIndex(), Disk: n.disk.now(n.options.Dir),
	}
	if n.options.DiskReserve > 0 && n.options.Dir != nil {
		s.Disk.Free = n.room.free.Load() // looked at more often
	}
	s.Short, s.Problem, s.Election = n.room.short.Load(), n.trouble(), n.options.Election.Milliseconds()
	s.Alike, s.Damaged = n.marks(), n.machine.Damage() != ""
	for _, member := range n.servers() {
		s.Members = append(s.Members, string(member.ID))
	}
	return s
}

// diskEvery is how often the data directory is measured at most.
const diskEvery = 10 * time.Second

// diskUse remembers how large the data directory was.
type diskUse struct {
	mu   sync.Mutex
	last rlog.Usage
	at   time.Time
}

func (d *diskUse) now(dir *rlog.Dir) rlog.Usage {
	if dir == nil {
		return rlog.Usage{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.at) < diskEvery {
		return d.last
	}
	// What cannot be measured now is told as it was.
	if use, err := dir.Usage(); err == nil {
		d.last = use
	}
	d.at = time.Now()
	return d.last
}

// TakeSnapshot takes a snapshot on this node, trims its log, and returns the index
// of the newest snapshot.
func (n *Node) TakeSnapshot() (index uint64, err error) {
	if err := n.serving(); err != nil {
		return 0, err
	}
	if err := n.Snapshot(); err != nil {
		return 0, errors.Join(errors.New("take a snapshot"), err)
	}
	return n.snapshotIndex(), nil
}
