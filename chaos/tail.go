package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"abagraph/client"
)

// Tail follows the stream of one node from tx 0 on, and comes back with the last
// id it has seen whenever the connection is lost.
type Tail struct {
	node   *Node
	cancel context.CancelFunc
	done   chan struct{}
	err    error

	mu        sync.Mutex
	events    []client.Event
	last      uint64 // the last tx that was told whole
	interrupt int
}

// Follow begins to follow what a node tells of a tenant ("" = the default one); Close
// ends it.
func (n *Node) Follow(ctx context.Context, tenant string) (*Tail, error) {
	c, err := n.Client(client.WithRetry(1, pause))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &Tail{node: n, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer c.Close()
		q := client.StreamQuery{Tenant: tenant, TxGt: "0", Interrupted: t.interrupted}
		if err := c.Stream(ctx, q, t.take); err != nil && ctx.Err() == nil {
			t.err = fmt.Errorf("follow %s: %w", n.Name, err)
		}
	}()
	return t, nil
}

func (t *Tail) take(e client.Event) error {
	if e.Op == client.OpResync {
		return fmt.Errorf("the stream was reset: %s", e.Raw)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	if e.ID != "" {
		t.last = e.Tx
	}
	return nil
}

func (t *Tail) interrupted(error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt++
}

// Interruptions is how often the connection was lost.
func (t *Tail) Interruptions() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.interrupt
}

// Await waits until a tx was told, and returns every event so far.
func (t *Tail) Await(ctx context.Context, tx uint64) (*State, error) {
	for {
		t.mu.Lock()
		last, events := t.last, t.events[:len(t.events):len(t.events)]
		t.mu.Unlock()
		if last >= tx {
			return &State{Node: "the follower of " + t.node.Name, Parts: []Part{{"events", rawEvents(events)}}, Events: events}, nil
		}
		select {
		case <-t.done:
			return nil, errors.Join(t.err, fmt.Errorf("the stream of %s ended at tx %d", t.node.Name, last))
		default:
		}
		if !rest(ctx, pause) {
			return nil, fmt.Errorf("the stream of %s stands at tx %d and not at %d: %w", t.node.Name, last, tx, ctx.Err())
		}
	}
}

// Close ends the following.
func (t *Tail) Close() error {
	t.cancel()
	<-t.done
	return t.err
}
