package replication

import (
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// peerTransport is Raft's network transport with a pipeline that cannot get
// stuck.
//
// In the library, whoever reads a pipeline's answers stops at the first one that
// is no success; the goroutine that decodes them then waits for a reader for
// ever, and the one that sends waits for the decoder. The follower gets no entry
// any more, and Shutdown never returns.
type peerTransport struct{ *raft.NetworkTransport }

// AppendEntriesPipeline opens a pipeline to a peer.
func (t *peerTransport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &pipeline{inner: inner, out: make(chan raft.AppendFuture), done: make(chan struct{})}
	go p.pass()
	return p, nil
}

// pipeline passes answers on until one is no success, and then refuses to send.
type pipeline struct {
	inner  raft.AppendPipeline
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
	return p.inner.AppendEntries(args, resp)
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
