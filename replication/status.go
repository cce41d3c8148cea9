package replication

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// Status is how a node sees itself and its cluster.
type Status struct {
	ID      string
	Cluster string // hexadecimal; "" until the node is a member
	// State is Leader, Follower, Candidate, Joining, Removed or Stopped.
	State         string
	LeaderID      string
	LeaderAddress string
	Term          uint64
	// Indexes are of log entries: the last one on this node's disk, the last
	// one it knows to be committed, and the last one its state machine has.
	LastIndex    uint64
	CommitIndex  uint64
	AppliedIndex uint64
	Tx           uint64
	// Lag is how many committed entries this node has not yet applied.
	Lag           uint64
	SnapshotIndex uint64
	LogBytes      uint64
	LogEntries    uint64
	// Problem says what keeps the node from serving or from being whole.
	Problem string
	Peers   []Peer // every member, this node included, in the order of ids
}

// Peer is one member as this node sees it. What it tells of itself is up to two
// seconds old.
type Peer struct {
	ID           string
	Address      string
	Voter        bool
	Self         bool
	Leader       bool
	Reachable    bool
	AppliedIndex uint64
	Tx           uint64
	// Lag is how many entries the member is behind the farthest one.
	Lag uint64
}

// peerStatus is what members tell each other.
type peerStatus struct {
	Applied uint64 `json:"applied"`
	Tx      uint64 `json:"tx"`
	Term    uint64 `json:"term"`
	// Members are the ids of the cluster's members, as the node knows them.
	Members []string `json:"members"`
	// The rest is for operators.
	Digest   string     `json:"digest"`
	Epoch    string     `json:"epoch"`
	Reader   bool       `json:"reader,omitempty"`
	LogBytes uint64     `json:"log_bytes"`
	Snapshot uint64     `json:"snapshot"`
	Disk     rlog.Usage `json:"disk"`
	Problem  string     `json:"problem,omitempty"`
	// Short tells that its disk has less room than its reserve.
	Short bool `json:"short,omitempty"`
	// Damaged tells that its store has been found damaged.
	Damaged bool `json:"damaged,omitempty"`
	// Election is its election time-out in milliseconds; 0 = it does not tell.
	Election int64 `json:"election_ms,omitempty"`
	// Alike are the marks of settings that must be the same on every node.
	Alike map[string]string `json:"alike,omitempty"`
}

const (
	statusEvery = time.Second
	statusLimit = 500 * time.Millisecond
)

// Status reports on this node. It asks nobody: what it says of other members is
// what they answered last.
func (n *Node) Status() Status {
	at := n.machine.Position()
	address, id := n.raft.LeaderWithID()
	stats := n.store.Stats()
	s := Status{
		ID: n.options.NodeID, State: n.stateName(), LeaderID: string(id), LeaderAddress: string(address),
		Term: n.raft.CurrentTerm(), LastIndex: n.raft.LastIndex(), CommitIndex: n.raft.CommitIndex(),
		AppliedIndex: at.Index, Tx: at.Tx, LogBytes: stats.LogBytes, LogEntries: stats.LogEntries,
		Peers: n.peers(at.Index, at.Tx, string(id)),
	}
	s.Lag, s.SnapshotIndex = n.lag(), n.snapshotIndex()
	if cluster := n.cluster(); cluster != nil {
		s.Cluster = cluster.String()
	}
	s.Problem = n.trouble()
	return s
}

// trouble is what an operator should know of this node, the worst of it, or "".
func (n *Node) trouble() string {
	if err := n.serving(); err != nil {
		return err.Error()
	}
	if p := n.problem.Load(); p != nil {
		return p.what
	}
	return cmp.Or(n.damageProblem(), n.hangProblem(), n.roomProblem(), n.certificateProblem(), n.unlikeProblem(), n.timingProblem())
}

// timingProblem tells of members whose election time-out is another one: whoever has
// the shorter one stands for election while the leader is well.
func (n *Node) timingProblem() string {
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	own := n.options.Election.Milliseconds()
	for _, id := range slices.Sorted(maps.Keys(n.seen)) {
		if told := n.seen[id].Election; told != 0 && told != own {
			return fmt.Sprintf("the election timeout is %d ms here and %d ms on %s: set it alike on all nodes", own, told, id)
		}
	}
	return ""
}

func (n *Node) stateName() string {
	switch {
	case n.serving() != nil:
		return "Stopped"
	case n.cluster() == nil:
		return "Joining"
	}
	if p := n.problem.Load(); p != nil && p.what == removedProblem {
		return "Removed"
	}
	return n.raft.State().String()
}

func (n *Node) peers(applied, tx uint64, leader string) []Peer {
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	var out []Peer
	farthest := applied
	for _, s := range n.servers() {
		p := Peer{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter, Leader: string(s.ID) == leader}
		if p.ID == n.options.NodeID {
			p.Self, p.Reachable, p.AppliedIndex, p.Tx = true, true, applied, tx
		} else if told, ok := n.seen[p.ID]; ok {
			p.Reachable, p.AppliedIndex, p.Tx = true, told.Applied, told.Tx
		}
		farthest = max(farthest, p.AppliedIndex)
		out = append(out, p)
	}
	for i := range out {
		if out[i].Reachable {
			out[i].Lag = farthest - out[i].AppliedIndex
		}
	}
	slices.SortFunc(out, func(a, b Peer) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// watchPeers asks the other members where they stand, once a second.
func (n *Node) watchPeers(ctx context.Context) {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			n.askPeers(ctx)
			n.leaveDamaged()
			n.handToReady()
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) askPeers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	type told struct {
		id     string
		status peerStatus
		err    error
	}
	servers := n.servers()
	answers := make(chan told, len(servers))
	asked := 0
	for _, s := range servers {
		if string(s.ID) == n.options.NodeID {
			continue
		}
		if n.spawn(func() {
			status, err := n.askStatus(ctx, string(s.Address))
			answers <- told{string(s.ID), status, err}
		}) {
			asked++
		}
	}
	seen, refused := make(map[string]peerStatus, asked), make(map[string]string)
	for range asked {
		a := <-answers
		var no *refusal
		switch {
		case a.err == nil:
			seen[a.id] = a.status
		case errors.As(a.err, &no):
			refused[a.id] = no.reason
		default:
			if why := certificateRefused(a.err); why != "" {
				refused[a.id] = why
			}
		}
	}
	n.seenMu.Lock()
	n.seen, n.refused = seen, refused
	n.seenMu.Unlock()
	n.noticeRemoval(seen)
	n.forgetClaim(seen)
	n.noticeUnlike()
}

const removedProblem = "this node was removed from the cluster; it joins again only with an empty data directory"

// noticeRemoval tells the operator of a node that was removed, which often does
// not learn of it from the log: the others send it nothing any more. The member
// that has applied most knows best.
func (n *Node) noticeRemoval(seen map[string]peerStatus) {
	var best peerStatus
	for _, told := range seen {
		if told.Applied >= best.Applied {
			best = told
		}
	}
	if len(best.Members) == 0 || best.Applied < n.machine.Position().Index {
		return
	}
	now := n.problem.Load()
	switch member := slices.Contains(best.Members, n.options.NodeID); {
	case !member && (now == nil || now.what != removedProblem):
		n.logger.Warn("abagraph.cluster.removed", "node", n.options.NodeID)
		n.problem.Store(&problem{what: removedProblem})
	case member && now != nil && now.what == removedProblem:
		n.problem.CompareAndSwap(now, nil)
	}
}

func (n *Node) askStatus(ctx context.Context, address string) (peerStatus, error) {
	var s peerStatus
	v, payload, err := n.calls.call(ctx, address, streamControl, methodStatus, nil)
	if err != nil {
		return s, err
	}
	if v != verdictDone {
		return s, fmt.Errorf("the member at %s does not tell how it stands", address)
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, fmt.Errorf("read how the member at %s stands: %w", address, err)
	}
	return s, nil
}

func (n *Node) serveStatus() ([]byte, error) { return json.Marshal(n.ownStatus()) }
