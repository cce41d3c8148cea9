package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// Propose has a request committed and applied, whichever node leads, and returns
// its result; a refusal that was judged in apply is Result.Err. The error is a
// *fact.Error: NoLeader, RateLimited, TooLarge and Closed mean that nothing was
// written; Timeout that the outcome is not known (C-32). A request with an
// idempotency key is tried again by itself after an unknown outcome, until the
// context ends.
func (n *Node) Propose(ctx context.Context, request *fact.Request) (*fact.Result, error) {
	data := entry.EncodeRequest(request)
	if len(data) > maxRequestBytes {
		return nil, fact.Errorf(fact.TooLarge, "the write has %d bytes; at most %d are allowed", len(data), maxRequestBytes)
	}
	ctx, cancel := n.limited(ctx)
	defer cancel()
	result, err := n.proposeUntil(ctx, data, request.Idem != nil)
	if err == nil {
		return result, nil
	}
	var final *fact.Error
	if errors.As(err, &final) {
		return nil, final
	}
	return nil, n.unknown(err)
}

// limited bounds how long a request may take, where its caller does not already.
func (n *Node) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= n.options.RequestLimit {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, n.options.RequestLimit)
}

// proposeUntil tries a request until it has an outcome. An error that is no
// *fact.Error means that the outcome is not known.
func (n *Node) proposeUntil(ctx context.Context, data []byte, again bool) (*fact.Result, error) {
	patience := n.newPatience()
	maybe := false // an earlier attempt may have been applied
	for {
		err := n.serving()
		var result *fact.Result
		if err == nil {
			result, err = n.proposeOnce(ctx, data)
		}
		maybe = maybe || errors.Is(err, errUnknown)
		switch {
		case err == nil:
			return result, nil
		case maybe && (!again || ctx.Err() != nil || n.serving() != nil):
			return nil, errUnknown
		case maybe, errors.Is(err, errNotLeader):
		case errors.Is(err, errNotProposed):
			return nil, n.notProposed()
		default:
			return nil, err
		}
		if err := patience.wait(ctx, maybe); err != nil {
			return nil, err
		}
	}
}

func (n *Node) unknown(err error) error {
	n.logger.Debug("abagraph.cluster.outcome_unknown", "error", err)
	return fact.Errorf(fact.Timeout, "the outcome of the write is not known; retry with the same Idempotency-Key")
}

func (n *Node) notProposed() error {
	if err := n.serving(); err != nil {
		return err
	}
	return fact.Errorf(fact.Timeout, "the time ran out before the write was proposed; nothing was written")
}

// proposeOnce tries the request where the leader is now.
func (n *Node) proposeOnce(ctx context.Context, data []byte) (*fact.Result, error) {
	if n.raft.State() == raft.Leader {
		return n.proposer.submit(ctx, data)
	}
	address, ok := n.leaderAddress()
	if !ok {
		return nil, errNotLeader
	}
	v, payload, err := n.forward(ctx, address, data)
	switch {
	case errors.Is(err, errUnsent):
		return nil, fmt.Errorf("%w: %w", errNotLeader, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	case v == verdictElsewhere:
		return nil, errNotLeader
	case v == verdictFailed:
		return nil, forwardedFailure(payload)
	}
	result, err := entry.DecodeResult(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: the leader's answer cannot be read: %w", errUnknown, err)
	}
	return result, nil
}

// forwardedFailure is the leader's error, as this node would have seen it had it
// been the leader itself.
func forwardedFailure(payload []byte) error {
	e := decodeFailure(payload)
	switch e.Code {
	case fact.Timeout:
		return fmt.Errorf("%w: %w", errUnknown, errors.New(e.Message))
	case fact.Closed:
		return errNotLeader // it stops; another will lead
	}
	return e
}

// servePropose answers a request that another node forwards. It does not forward
// again: the other node knows best how long it may take.
func (n *Node) servePropose(ctx context.Context, data []byte) ([]byte, error) {
	if err := n.serving(); err != nil {
		return nil, errNotLeader
	}
	result, err := n.proposer.submit(ctx, data)
	switch {
	case errors.Is(err, errNotProposed):
		return nil, errNotLeader
	case errors.Is(err, errUnknown):
		return nil, fact.Errorf(fact.Timeout, "%s", err)
	case err != nil:
		return nil, err
	}
	return entry.EncodeResult(result), nil
}

// patience decides how long a request goes on while there is no leader.
type patience struct {
	node  *Node
	until time.Time
	pause time.Duration
}

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 100 * time.Millisecond
)

func (n *Node) newPatience() *patience {
	return &patience{node: n, until: time.Now().Add(n.options.LeaderWait), pause: firstPause}
}

// wait pauses until the leader may have changed. It gives up with NoLeader when
// there was none for LeaderWait; where an earlier attempt may have been applied
// it goes on until the context ends, and then says so: a plain no would hide it.
func (p *patience) wait(ctx context.Context, maybe bool) error {
	if !maybe && time.Now().After(p.until) {
		return p.node.noLeader()
	}
	if p.node.hasty.Err() != nil {
		if maybe {
			return errUnknown
		}
		return p.node.noLeader()
	}
	timer := time.NewTimer(p.pause)
	defer timer.Stop()
	p.pause = min(2*p.pause, lastPause)
	select {
	case <-p.node.leaderMoved():
	case <-timer.C:
	case <-p.node.stopped:
	case <-p.node.hasty.Done():
	case <-ctx.Done():
		if maybe {
			return errUnknown
		}
		return p.node.noLeader()
	}
	return nil
}

// lastWait is how long requests of a node that is about to end wait for a leader.
const lastWait = 250 * time.Millisecond

// Hasten is called before a node ends: requests that wait for a leader, for this node to
// catch up, or to learn what became of them, go on only for a moment, so that the end does
// not wait for them.
func (n *Node) Hasten() { time.AfterFunc(lastWait, n.beHasty) }

// unlessHasty is a context that also ends when the node is in haste.
func (n *Node) unlessHasty(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(n.hasty, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (n *Node) noLeader() error {
	if err := n.serving(); err != nil {
		return err
	}
	return fact.Errorf(fact.NoLeader, "the cluster has no leader that answers at the moment; nothing was done, try again")
}
