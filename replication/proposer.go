package replication

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/span"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// What became of a proposal that has no result. Both are internal: callers see
// *fact.Error.
var (
	// errNotLeader: nothing was proposed; another node may lead, or soon will.
	errNotLeader = errors.New("this node is not the leader")
	// errUnknown: proposed, and then the leadership or the node was lost. The
	// write may have been, or may yet be, applied.
	errUnknown = errors.New("the outcome of the write is not known")
)

// proposer gathers the writes that wait on the leader and puts all of them into
// one log entry, as soon as there is room in the log: a write waits for the
// writes in front of it, never for a timer.
type proposer struct {
	node  *Node
	queue *lines
	done  chan struct{} // closed when nothing is proposed any more
	beat  *broadcast    // see await
	// flight is the entry that was proposed last.
	flight atomic.Pointer[flight]
}

// flight is an entry on its way through the log. The state machine answers its
// writes as soon as their outcomes are certain; the proposer does where that fails.
type flight struct {
	data     []byte
	writes   []*proposal
	answered atomic.Bool
	applied  chan struct{} // closed once the state machine has answered

	// When it was proposed, and from when to when it was judged: read by its writes
	// once they have their outcome.
	proposed, from, to time.Time
}

// answer gives every write its outcome. Who has set answered calls it, and is the only one.
func (f *flight) answer(results []*fact.Result, err error) {
	for i, q := range f.writes {
		if err != nil {
			q.done <- outcome{err: err, flight: f}
			continue
		}
		q.done <- outcome{result: results[i], flight: f}
	}
}

// applied answers the writes of the entry in flight, if that is what was applied:
// Raft hands over the very bytes that this leader has proposed.
func (p *proposer) applied(data []byte, done *fsm.Applied, from, to time.Time) {
	f := p.flight.Load()
	if f == nil || len(data) == 0 || len(data) != len(f.data) || &data[0] != &f.data[0] || len(done.Results) != len(f.writes) || !f.answered.CompareAndSwap(false, true) {
		return
	}
	f.from, f.to = from, to
	f.answer(done.Results, nil)
	close(f.applied)
	if len(f.writes) <= fewWrites {
		runtime.Gosched()
	}
}

// fewWrites is up to how many writes of an entry those who wait for them go before
// what is left to do for it: one client then waits a tenth less. Of many clients most
// are on their way, and nobody gains.
const fewWrites = 4

// proposal is one write that waits.
type proposal struct {
	data []byte
	// taken is set by whoever decides: the proposer, when it puts the write
	// into an entry, or the caller, when it gives up before that.
	taken atomic.Bool
	done  chan outcome
}

type outcome struct {
	result *fact.Result
	err    error // errNotLeader, errUnknown or a *fact.Error
	flight *flight
}

func newProposer(n *Node) *proposer {
	return &proposer{
		node:  n,
		queue: newLines(n.options.QueueLength, n.options.QueueBytes),
		done:  make(chan struct{}),
		beat:  newBroadcast(),
	}
}

// submit queues an encoded request on the leader and waits for its outcome.
func (p *proposer) submit(ctx context.Context, data []byte) (*fact.Result, error) {
	if p.node.raft.State() != raft.Leader {
		return nil, errNotLeader
	}
	if err := p.node.mayWrite(); err != nil {
		if fact.CodeOf(err) == fact.RateLimited {
			p.node.metrics.lagging.Inc()
		}
		return nil, err
	}
	q := &proposal{data: data, done: make(chan outcome, 1)}
	part := span.Of(ctx)
	var came time.Time
	if part.Kept() {
		came = time.Now()
	}
	if !p.queue.push(entry.TenantOf(data), q) {
		p.node.metrics.refused.Inc()
		return nil, errQueueFull()
	}
	if o, ok := p.await(ctx, q); ok {
		return o.told(part, came)
	}
	if q.taken.CompareAndSwap(false, true) {
		return nil, errNotProposed
	}
	// It is in an entry. A node that stops still waits for what is in flight.
	select {
	case o := <-q.done:
		return o.told(part, came)
	case <-ctx.Done():
		return nil, errUnknown
	case <-p.node.raftDone:
	}
	select {
	case o := <-q.done: // it came at the same time
		return o.told(part, came)
	default:
		return nil, errUnknown
	}
}

// told is the outcome, after its times were kept for whoever traces the write: how
// long it waited for the writes in front of it, how long the log and the state machine
// took, and with how many others it was one entry.
func (o outcome) told(part span.Span, came time.Time) (*fact.Result, error) {
	if f := o.flight; part.Kept() && f != nil {
		part.Past("log.wait", came, f.proposed, "", 0)
		part.Past("log.commit", f.proposed, time.Now(), "abagraph.group_size", int64(len(f.writes)))
		part.Past("store.apply", f.from, f.to, "", 0)
	}
	return o.result, o.err
}

func errQueueFull() error {
	return fact.Errorf(fact.RateLimited, "too many writes, of this tenant or of all, wait for the log; nothing was written, try again in a moment")
}

// errNotProposed: the time ran out before the write was proposed.
var errNotProposed = errors.New("nothing was written")

// run puts all that waits into one entry, waits for it to be answered, and then
// looks again, until the node stops. One entry at a time makes the log sync for
// as many writes at once as there can be: a second in flight was measured to
// gain nothing where the disk is quick, and halves the groups.
func (p *proposer) run() {
	defer close(p.done)
	for {
		var g group
		g.gather(p)
		if len(g.writes) > 0 {
			p.propose(g.writes)
			p.yield(len(g.writes))
			continue
		}
		select {
		case <-p.queue.some:
		case <-p.node.stopped:
			return
		}
	}
}

// From a group of manyWrites on, others go first up to maxYields times.
const (
	manyWrites = 48
	maxYields  = 2
)

// yield lets whoever can run go first, after an entry of very many writes and while
// fewer wait than it had: their clients are on their way, and wait for a processor only.
// Without it groups of 256 clients fall apart into small ones, and the log syncs for
// fewer than a third of them at once. Nobody else can run? Then it returns at once.
func (p *proposer) yield(answered int) {
	if answered < manyWrites {
		return
	}
	for i := 0; i < maxYields && p.queue.len() < answered; i++ {
		runtime.Gosched()
	}
}

// gather takes everything that waits, up to the bounds.
func (g *group) gather(p *proposer) {
	for !g.full() {
		q := p.queue.pop()
		if q == nil {
			return
		}
		g.add(q)
	}
}

// group is the writes of the next entry.
type group struct {
	writes []*proposal
	bytes  int
}

// add takes a write out of the queue, unless its caller has given up.
func (g *group) add(q *proposal) {
	if q.taken.CompareAndSwap(false, true) {
		g.writes = append(g.writes, q)
		g.bytes += len(q.data)
	}
}

func (g *group) full() bool { return len(g.writes) >= maxGroup || g.bytes >= maxGroupBytes }

// settled waits for a future. Raft answers every one while it runs, but some of
// those that its end finds between the log and the state machine never.
func (n *Node) settled(future raft.Future) error { return n.settledOr(future, nil) }

// settledOr is settled, or until an entry has been applied.
func (n *Node) settledOr(future raft.Future, applied <-chan struct{}) error {
	answer := make(chan error, 1)
	go func() { answer <- future.Error() }()
	select {
	case err := <-answer:
		return err
	case <-applied:
		return nil
	case <-n.raftDone:
		return raft.ErrRaftShutdown
	}
}

// propose hands one group to Raft and waits until every write of it is answered. Raft
// answers each entry, or the node has stopped.
func (p *proposer) propose(group []*proposal) {
	requests := make([][]byte, len(group))
	for i, q := range group {
		requests[i] = q.data
	}
	p.node.metrics.groupSize.Observe(float64(len(group)))
	start := time.Now()
	data := entry.EncodeBatch(entry.Batch{ProposedAt: p.node.stamp(), Requests: requests})
	f := &flight{data: data, writes: group, applied: make(chan struct{}), proposed: start}
	p.flight.Store(f)
	future := p.node.raft.Apply(data, p.node.enqueueLimit())
	err := p.node.settledOr(future, f.applied)
	p.node.metrics.commitTime.Observe(time.Since(start).Seconds())
	if f.answered.CompareAndSwap(false, true) {
		f.answer(p.node.entryResults(future, err, len(group)))
	}
	p.flight.Store(nil)
}

func (n *Node) entryResults(future raft.ApplyFuture, err error, requests int) ([]*fact.Result, error) {
	n.suspect(err)
	done, err := outcomeOf(future, err)
	if err != nil {
		return nil, err
	}
	if len(done.Results) != requests {
		return nil, fmt.Errorf("%w: the state machine gave %d answers to %d requests", errUnknown, len(done.Results), requests)
	}
	return done.Results, nil
}

// await waits for an entry of the node's own.
func (n *Node) await(future raft.ApplyFuture) (applied, error) {
	err := n.settled(future)
	n.suspect(err)
	return outcomeOf(future, err)
}

// outcomeOf sorts the error of an entry into the three outcomes: applied,
// certainly not proposed, and unknown (C-32).
func outcomeOf(future raft.ApplyFuture, err error) (applied, error) {
	switch {
	case err == nil:
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return applied{}, fmt.Errorf("%w: %w", errNotLeader, err)
	default:
		return applied{}, fmt.Errorf("%w: %w", errUnknown, err)
	}
	done, ok := future.Response().(applied)
	switch {
	case !ok:
		return applied{}, fmt.Errorf("%w: it was not applied here", errUnknown)
	case done.err != nil:
		return applied{}, fmt.Errorf("%w: %w", errUnknown, done.err)
	case done.Skipped:
		return applied{}, fmt.Errorf("%w: its entry had been applied before", errUnknown)
	}
	return done, nil
}

// drain waits, within a bound, until the entry in flight is done with.
func (p *proposer) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
}
