package replication

import (
	"errors"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// TestALeaderWhoseLogHangsIsReplaced: its disk does not answer, and the others elect one
// of them. It says why it takes no writes, and is a follower once the disk answers again.
func TestALeaderWhoseLogHangsIsReplaced(t *testing.T) {
	c := three(t, func(o *Options) { o.LagTime = 200 * time.Millisecond })
	hung := c.leader()
	hung.mustWrite(t, write("Lamp:l", 0))
	release := hangLog(t, hung)
	hung.raft.Apply(entry.EncodeTick(hung.stamp()), time.Second)
	eventually(t, "another one leads", func() bool {
		for _, m := range c.members {
			if s := m.leadership.Load(); m != hung && s != nil && s.isReady() {
				return true
			}
		}
		return false
	})
	if _, err := hung.Propose(soon(t), write("Lamp:l", 1)); fact.CodeOf(err) != fact.RateLimited {
		t.Errorf("a write through the node whose log hangs: %v", err)
	}
	if hung.trouble() == "" {
		t.Error("it does not tell that its log hangs")
	}
	for id, m := range c.members {
		if id != hung.id {
			m.mustWrite(t, write("Lamp:l", 2))
		}
	}
	release()
	eventually(t, "it follows", func() bool { return hung.raft.State() == raft.Follower })
	c.equalDigests()
}

// hangLog keeps a node's log from coming to an end of its next write.
func hangLog(t *testing.T, m *member) (release func()) {
	m.backlog.mu.Lock()
	release = sync.OnceFunc(m.backlog.mu.Unlock)
	t.Cleanup(release)
	return release
}

// TestNothingIsCommittedThatWasNotCompared: a member holds an entry that a former leader
// never committed. What the leader sends it ends before that entry, and its commit index
// lies behind it.
func TestNothingIsCommittedThatWasNotCompared(t *testing.T) {
	c := three(t, nil)
	m := c.follower()
	for i := range 3 {
		c.leader().mustWrite(t, write("Lamp:l", i))
	}
	c.equalDigests()
	m.stop(t)
	last := leaveWrite(t, m.path, write("Lamp:ghost", 1))
	before := c.leader()
	if err := before.Transfer(soon(t), c.follower().id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another leader", func() bool { return c.leader() != before })
	c.leader().mustWrite(t, write("Lamp:l", 3))
	c.wires.isolate(m.id, c.members, true)
	m = c.start(m.id, m.path, "")
	sent := &raft.AppendEntriesRequest{RPCHeader: headerOf(c.leader()), Term: c.leader().raft.CurrentTerm(), PrevLogEntry: last - 1, LeaderCommitIndex: last + 1}
	var l raft.Log
	if err := m.store.GetLog(last-1, &l); err != nil {
		t.Fatal(err)
	}
	sent.PrevLogTerm = l.Term
	var answer raft.AppendEntriesResponse
	if err := transportOf(t, c.leader()).AppendEntries(raft.ServerID(m.id), raft.ServerAddress(m.address), sent, &answer); err != nil || !answer.Success {
		t.Fatalf("the member answers %+v, %v", answer, err)
	}
	eventually(t, "it has applied what is committed", func() bool { return m.adapter.seen.Load() >= last-1 })
	if commit := m.raft.CommitIndex(); commit != last-1 {
		t.Errorf("entry %d counts as committed, the last one that was compared is %d", commit, last-1)
	}
	if got, err := m.read(soon(t), fact.Stale, "Lamp:ghost"); got != "" || err != nil {
		t.Errorf("what no majority had reads %q, %v", got, err)
	}
	c.wires.isolate(m.id, c.members, false)
	c.equalDigests()
}

// leaveWrite puts a write behind the end of a log, as a leader does whose term ends
// before another member has it. It returns the index.
func leaveWrite(t *testing.T, path string, request *fact.Request) uint64 {
	t.Helper()
	store, done := logOf(t, path)
	defer done()
	var last raft.Log
	index, err := store.LastIndex()
	if err == nil {
		err = store.GetLog(index, &last)
	}
	data := entry.EncodeBatch(entry.Batch{ProposedAt: systemClock(), Requests: [][]byte{entry.EncodeRequest(request)}})
	err = errors.Join(err, store.StoreLog(&raft.Log{Index: index + 1, Term: last.Term, Type: raft.LogCommand, Data: data}), store.Close())
	if err != nil {
		t.Fatal(err)
	}
	return index + 1
}

// TestEntriesThatWereNotTakenAreNotMissing: a member whose disk is nearly full takes no
// entries, which must not look as if it lacked those before them.
func TestEntriesThatWereNotTakenAreNotMissing(t *testing.T) {
	d := &disks{free: map[string]uint64{}}
	c := three(t, d.tune)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	c.equalDigests()
	m := c.follower()
	d.set(m.id, 400)
	eventually(t, "it takes no entries", m.room.tight.Load)
	c.wires.isolate(m.id, c.members, true)
	last := m.raft.LastIndex()
	var l raft.Log
	if err := m.store.GetLog(last, &l); err != nil {
		t.Fatal(err)
	}
	sent := &raft.AppendEntriesRequest{
		RPCHeader: headerOf(c.leader()), Term: c.leader().raft.CurrentTerm(), PrevLogEntry: last, PrevLogTerm: l.Term,
		Entries: []*raft.Log{{Index: last + 1, Term: l.Term, Type: raft.LogNoop}},
	}
	var answer raft.AppendEntriesResponse
	err := transportOf(t, c.leader()).AppendEntries(raft.ServerID(m.id), raft.ServerAddress(m.address), sent, &answer)
	if !errors.Is(err, errNotTaken) {
		t.Errorf("entries that were not taken: %+v, %v", answer, err)
	}
}

func headerOf(m *member) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(m.id), Addr: []byte(m.address)}
}

// transportOf is a transport beside a node's own that no wire cuts off.
func transportOf(t *testing.T, m *member) *peerTransport {
	t.Helper()
	o := testOptions(m.id)
	o.Bind = "127.0.0.1:0"
	o = o.withDefaults()
	creds, err := loadCredentials(&o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openPort(&o, creds)
	if err != nil {
		t.Fatal(err)
	}
	p.cluster.Store(m.cluster())
	never := func() bool { return false }
	inner := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{Stream: raftStreams{p}, Timeout: 5 * time.Second, Logger: newRaftLogger(o.Logger)})
	t.Cleanup(func() {
		p.close()
		inner.Close()
	})
	return &peerTransport{NetworkTransport: inner, leads: never, hangs: never, short: func(raft.ServerID) bool { return false }, stopped: m.stopped, reached: map[raft.ServerID]time.Time{}}
}
