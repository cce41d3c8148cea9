package replication

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// errUnsent tells that a call never left this node: nothing has happened.
var errUnsent = errors.New("the call could not be sent")

// errBroken tells that a call was sent and its answer lost: what has happened is
// not known.
var errBroken = errors.New("the connection to the peer broke before its answer came")

// redialWait is how long an unreachable peer is left alone.
const redialWait = 50 * time.Millisecond

// callers keeps one connection for calls to each peer and stream.
type callers struct {
	port *port
	mu   sync.Mutex
	open map[callerKey]*caller
}

type callerKey struct {
	address string
	stream  stream
}

func newCallers(p *port) *callers {
	return &callers{port: p, open: make(map[callerKey]*caller)}
}

// caller connects to one peer, when needed and again after a failure.
type caller struct {
	dialing chan struct{} // held by whoever connects
	mu      sync.Mutex
	conn    *callConn
	failed  error
	failing time.Time
}

// maxCallers bounds the peers that are remembered; a cluster has far fewer.
const maxCallers = 256

func (c *callers) get(key callerKey) *caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.open[key]
	if !ok {
		if len(c.open) >= maxCallers {
			clear(c.open) // their connections end with the port
		}
		k = &caller{dialing: make(chan struct{}, 1)}
		c.open[key] = k
	}
	return k
}

// call asks a peer and returns its verdict and payload. The error is errUnsent,
// errBroken or the context's, wrapped.
func (c *callers) call(ctx context.Context, address string, kind stream, m method, payload []byte) (verdict, []byte, error) {
	if c == nil {
		return 0, nil, fmt.Errorf("%w: this node has no peer port", errUnsent)
	}
	conn, err := c.get(callerKey{address, kind}).connect(ctx, c.port, address, kind)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	return conn.call(ctx, m, payload)
}

// connect returns the open connection, or makes one; one caller at a time does.
func (k *caller) connect(ctx context.Context, p *port, address string, kind stream) (*callConn, error) {
	if conn := k.current(); conn != nil {
		return conn, nil
	}
	select {
	case k.dialing <- struct{}{}:
		defer func() { <-k.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if conn := k.current(); conn != nil {
		return conn, nil
	}
	k.mu.Lock()
	failed, since := k.failed, time.Since(k.failing)
	k.mu.Unlock()
	if failed != nil && since < redialWait {
		return nil, failed
	}
	raw, err := p.dial(ctx, address, kind)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed, k.failing = err, time.Now()
		return nil, err
	}
	k.failed = nil
	k.conn = newCallConn(raw, p)
	return k.conn, nil
}

func (k *caller) current() *callConn {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn != nil && k.conn.broken() {
		k.conn = nil
	}
	return k.conn
}

// callConn is one connection that carries many calls at once.
type callConn struct {
	conn   net.Conn
	frames chan []byte
	done   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan<- []byte
}

// newCallConn starts the connection's reader and writer; both end when it breaks
// or the port closes it, and the port waits for them.
func newCallConn(conn net.Conn, p *port) *callConn {
	c := &callConn{
		conn: conn, frames: make(chan []byte, waitingFrame), done: make(chan struct{}),
		waiting: make(map[uint64]chan<- []byte),
	}
	p.wg.Add(2)
	go func() {
		defer p.wg.Done()
		defer c.fail()
		writeFrames(conn, c.frames, c.done) // a failure shows in every call that waits
	}()
	go func() {
		defer p.wg.Done()
		defer c.fail()
		c.read()
	}()
	return c
}

func (c *callConn) fail() {
	c.once.Do(func() {
		close(c.done)
		c.conn.Close()
	})
}

func (c *callConn) broken() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *callConn) read() {
	r := bufio.NewReaderSize(c.conn, frameBuffer)
	for {
		id, body, err := readFrame(r, maxFrame)
		if err != nil {
			return
		}
		c.mu.Lock()
		answer := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- body
		}
	}
}

func (c *callConn) call(ctx context.Context, m method, payload []byte) (verdict, []byte, error) {
	answer := make(chan []byte, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	left := maxCallTime
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	select {
	case c.frames <- requestFrame(id, m, left, payload):
	case <-c.done:
		return 0, nil, fmt.Errorf("%w: the connection broke", errUnsent)
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("%w: %w", errUnsent, ctx.Err())
	}
	select {
	case body := <-answer:
		return verdict(body[0]), body[1:], nil
	case <-c.done:
		// The answer may have come just before the end.
		select {
		case body := <-answer:
			return verdict(body[0]), body[1:], nil
		default:
			return 0, nil, errBroken
		}
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("%w: %w", errBroken, ctx.Err())
	}
}
