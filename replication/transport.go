package replication

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// peerTransport is Raft's network transport without some weaknesses of it.
//
// A pipeline could get stuck: whoever reads its answers stops at the first one
// that is no success; the goroutine that decodes them then waits for a reader for
// ever, and the one that sends waits for the decoder. The follower gets no entry
// any more, and Shutdown never returns (github.com/hashicorp/raft/issues/612).
//
// A member that comes back had to wait: the library doubles its pause with each
// failed attempt, up to ten seconds, and many fail while a member is down. Here
// a failed attempt returns only when a heartbeat has reached the member again.
//
// A leader whose log hangs at a write led on, since heartbeats need no disk, and
// nobody could write (github.com/hashicorp/raft/issues/503): it falls silent here.
//
// A member took everything that it holds for committed up to the leader's commit
// index, also what the leader had not compared with its own entries. A leader tells
// it no index here beyond those that it sends.
//
// A member that cannot store entries was taken for one that lacks those before them,
// and was sent older ones each time, in the end a snapshot. Nor is a snapshot sent to
// one that has no room, whose disk it would fill.
//
// A request held 64 entries, of whatever size, and had to be through within one time
// limit, or was sent again from its beginning: over a slow network for ever. A request
// is bounded in bytes, and its limit is for each piece of it (see patientConn).
type peerTransport struct {
	*raft.NetworkTransport
	leads   func() bool              // whether this node still leads
	hangs   func() bool              // whether its log does not come to an end of a write
	short   func(raft.ServerID) bool // whether a member has told that it has no room
	stopped <-chan struct{}

	mu      sync.Mutex
	reached map[raft.ServerID]time.Time
}

// maxSentBytes bounds the entries of one request; a single larger one is sent alone.
const maxSentBytes = 8 << 20

const (
	reachEvery = 20 * time.Millisecond
	reachLimit = time.Minute
	maxReached = 256
)

var (
	errHangs    = errors.New("the log of this node hangs at a write")
	errNotTaken = errors.New("the peer could not store the entries")
	errNoRoom   = errors.New("the peer has no room for a snapshot")
)

// AppendEntries sends entries or a heartbeat to a peer.
func (t *peerTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	start := time.Now()
	err := t.send(id, target, args, resp)
	heartbeat := len(args.Entries) == 0 && args.PrevLogEntry == 0 && args.LeaderCommitIndex == 0
	switch {
	case err == nil && heartbeat:
		t.noteReached(id)
	case err != nil && !heartbeat:
		t.awaitReached(id, start)
	}
	return err
}

func (t *peerTransport) send(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.hangs() {
		return errHangs
	}
	cut(args)
	if err := t.NetworkTransport.AppendEntries(id, target, sentOnly(args), resp); err != nil {
		return err
	}
	if len(args.Entries) > 0 && !resp.Success && !resp.NoRetryBackoff && resp.Term <= args.Term {
		return errNotTaken
	}
	return nil
}

// cut shortens a request to as many entries as may be sent at once. Raft goes on after
// the last one that is left in it.
func cut(args *raft.AppendEntriesRequest) {
	bytes := 0
	for i, l := range args.Entries {
		if bytes += len(l.Data); bytes > maxSentBytes && i > 0 {
			args.Entries = args.Entries[:i]
			return
		}
	}
}

// sentOnly bounds the commit index of a request by the last entry that it holds, or by
// the one before where it holds none.
func sentOnly(args *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	bounded := *args
	bounded.LeaderCommitIndex = min(args.LeaderCommitIndex, args.PrevLogEntry+uint64(len(args.Entries)))
	return &bounded
}

func (t *peerTransport) noteReached(id raft.ServerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.reached) >= maxReached {
		clear(t.reached)
	}
	t.reached[id] = time.Now()
}

// awaitReached waits until the peer has answered a heartbeat since a time, or
// there is no use in waiting any more.
func (t *peerTransport) awaitReached(id raft.ServerID, since time.Time) {
	t.await(since, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.reached[id].After(since)
	})
}

// await waits while this node leads, for a minute since a time at most.
func (t *peerTransport) await(since time.Time, over func() bool) {
	ticker := time.NewTicker(reachEvery)
	defer ticker.Stop()
	for t.leads() && time.Since(since) < reachLimit && !over() {
		select {
		case <-ticker.C:
		case <-t.stopped:
			return
		}
	}
}

// InstallSnapshot sends a snapshot to a peer, once it has room.
func (t *peerTransport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	t.await(time.Now(), func() bool { return !t.short(id) })
	if t.short(id) {
		return errNoRoom
	}
	return t.NetworkTransport.InstallSnapshot(id, target, args, resp, data)
}

// AppendEntriesPipeline opens a pipeline to a peer.
func (t *peerTransport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &pipeline{inner: inner, hangs: t.hangs, out: make(chan raft.AppendFuture), done: make(chan struct{})}
	go p.pass()
	return p, nil
}

// pipeline passes answers on until one is no success, and then refuses to send.
type pipeline struct {
	inner  raft.AppendPipeline
	hangs  func() bool
	out    chan raft.AppendFuture
	done   chan struct{}
	once   sync.Once
	broken atomic.Bool
}

// AppendEntries sends entries, unless the pipeline is to be given up.
func (p *pipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	if p.broken.Load() {
		return nil, raft.ErrPipelineShutdown
	}
	if p.hangs() {
		return nil, errHangs
	}
	cut(args)
	return p.inner.AppendEntries(sentOnly(args), resp)
}

// Consumer returns the channel of answers.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.out }

// Close ends the pipeline and its goroutine.
func (p *pipeline) Close() error {
	p.once.Do(func() { close(p.done) })
	return p.inner.Close()
}

// pass takes every answer off the decoder, and hands on those that still have a
// reader: all up to the first that is no success.
func (p *pipeline) pass() {
	for {
		var f raft.AppendFuture
		select {
		case f = <-p.inner.Consumer():
		case <-p.done:
			return
		}
		if p.broken.Load() {
			continue
		}
		if f.Error() != nil || !f.Response().Success || f.Response().Term > f.Request().Term {
			p.broken.Store(true)
		}
		select {
		case p.out <- f:
		case <-p.done:
			return
		}
	}
}
