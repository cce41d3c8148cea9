package http

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"abagraph/fact"
)

const (
	// silentTime is how long a new connection may take to send its first request
	// before it is the first to give way.
	silentTime = time.Second
	// maxRefusing connections are told at a time that there is no place for them,
	// each within refusingTime; more wait in the kernel's queue.
	maxRefusing  = 64
	refusingTime = time.Second
	// maxNext connections that may give way are remembered, and barrenTime is how long
	// there are taken to be none after there were none.
	maxNext    = 256
	barrenTime = 5 * time.Millisecond
	// fullEvery is how often the log is told that there were too many connections.
	fullEvery = time.Minute
)

// connections is a listener with a bounded number of places. Where all are taken, a
// connection on which no request is being answered gives way to a new one, so that
// idle and slow ones keep nobody out; where there is none, the new one is refused.
type connections struct {
	net.Listener
	max    int
	logger *slog.Logger

	refused  atomic.Uint64 // told that there is no place
	gaveWay  atomic.Uint64 // closed while they waited, for a newer one
	refusing chan struct{} // a place for each that is being told

	mu     sync.Mutex
	open   map[*enveloped]bool
	told   map[net.Conn]bool // those that are being refused; nil = closed
	next   []waiting         // that give way next
	barren time.Time         // when there was none
	warned time.Time
	ended  sync.WaitGroup // of those
}

// waiting is a connection without a request, as it was when it was looked at.
type waiting struct {
	conn   *enveloped
	since  int64
	silent bool // it has sent none for silentTime
}

func newConnections(inner net.Listener, most int, logger *slog.Logger) *connections {
	return &connections{Listener: inner, max: most, logger: logger, refusing: make(chan struct{}, maxRefusing),
		open: map[*enveloped]bool{}, told: map[net.Conn]bool{}}
}

// Accept implements net.Listener. It tells of connections that could not be accepted.
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				l.logger.Warn("abagraph.server.accept_error", "error", err.Error())
			}
			return nil, err
		}
		tcp, ok := raw.(*net.TCPConn)
		if !ok {
			return raw, nil // of a listener that is no socket of this server's
		}
		c := &enveloped{TCPConn: tcp, listener: l}
		c.waits.Store(time.Now().UnixNano())
		if l.admit(c) {
			return c, nil
		}
		l.refuse(tcp)
	}
}

// admit takes a place for a connection, if need be that of one that waits.
func (l *connections) admit(c *enveloped) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		l.warn()
		if !l.clearOne() {
			return false
		}
	}
	l.open[c] = true
	return true
}

// clearOne closes the connection that has waited longest for a request to come, of
// those first that have not sent any; false = none waits. l.mu is held.
func (l *connections) clearOne() bool {
	for {
		for len(l.next) > 0 {
			w := l.next[0]
			l.next = l.next[1:]
			if l.open[w.conn] && w.conn.waits.CompareAndSwap(w.since, gone) { // else a request has come meanwhile
				delete(l.open, w.conn)
				w.conn.TCPConn.Close()
				l.gaveWay.Add(1)
				return true
			}
		}
		if !l.look() {
			return false
		}
	}
}

// look finds those that may give way next. It is not done again for a moment where there
// were none, and finds many at once, so that a flood of connections costs little.
func (l *connections) look() bool {
	now := time.Now()
	if now.Sub(l.barren) < barrenTime {
		return false
	}
	before := now.Add(-silentTime).UnixNano()
	l.next = l.next[:0]
	for c := range l.open {
		if at := c.waits.Load(); at > 0 {
			l.next = append(l.next, waiting{c, at, !c.spoke.Load() && at < before})
		}
	}
	if len(l.next) == 0 {
		l.barren = now
		return false
	}
	slices.SortFunc(l.next, func(a, b waiting) int {
		switch {
		case a.silent && !b.silent:
			return -1
		case b.silent && !a.silent:
			return 1
		}
		return cmp.Compare(a.since, b.since)
	})
	most := min(len(l.next), maxNext)
	clear(l.next[most:])
	l.next = l.next[:most]
	return true
}

// warn tells the log once in a while. l.mu is held.
func (l *connections) warn() {
	if now := time.Now(); now.Sub(l.warned) >= fullEvery {
		l.warned = now
		l.logger.Warn("abagraph.server.connections_full", "max", l.max, "refused", l.refused.Load(), "gave_way", l.gaveWay.Load())
	}
}

// refuse tells a connection that there is no place for it, and closes it, beside the
// next ones that come.
func (l *connections) refuse(conn *net.TCPConn) {
	l.refused.Add(1)
	l.refusing <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == nil {
		<-l.refusing
		conn.Close()
		return
	}
	l.told[conn] = true
	l.ended.Add(1)
	go func() {
		defer l.ended.Done()
		l.tell(conn)
		<-l.refusing
	}()
}

// tell answers whatever was asked, and then reads on for a moment: a connection that is
// closed with something unread is reset, and the answer with it.
func (l *connections) tell(conn *net.TCPConn) {
	defer func() {
		l.mu.Lock()
		delete(l.told, conn)
		l.mu.Unlock()
		conn.Close()
	}()
	body := appendError(nil, fact.Errorf(fact.RateLimited, "this node has %d open connections already; nothing was done", l.max))
	answer := []byte("HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: ")
	answer = append(append(strconv.AppendInt(answer, int64(len(body)), 10), "\r\n\r\n"...), body...)
	if conn.SetDeadline(time.Now().Add(refusingTime)) != nil {
		return
	}
	if _, err := io.Copy(conn, bytes.NewReader(answer)); err != nil || conn.CloseWrite() != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, maxHeld) // its end, or the time's
}

// count is how many connections are open.
func (l *connections) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

func (l *connections) forget(c *enveloped) {
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
}

// Close stops listening, and ends those that are being refused.
func (l *connections) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	told := l.told
	l.told = nil
	for conn := range told {
		conn.Close()
	}
	l.mu.Unlock()
	l.ended.Wait()
	return err
}

// closeSilent closes the connections that have sent no request: a server that shuts
// down would wait seconds for one.
func (l *connections) closeSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if at := c.waits.Load(); at > 0 && !c.spoke.Load() && c.waits.CompareAndSwap(at, gone) {
			delete(l.open, c)
			c.TCPConn.Close()
		}
	}
}

// What waits says besides the time since when a connection waits for a request.
const (
	busy = 0  // a request is being answered
	gone = -1 // it gave way to another one
)

// begin takes note that a request has come; false = the connection was closed at the
// same time, and nobody would be told what becomes of it.
func (c *enveloped) begin() bool {
	if c.listener == nil {
		return true
	}
	c.spoke.Store(true)
	for {
		at := c.waits.Load()
		if at == gone {
			return false
		}
		if c.waits.CompareAndSwap(at, busy) {
			return true
		}
	}
}

// turned is told of each change of a connection by net/http.
func turned(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*enveloped); ok && state == http.StateIdle {
		c.unwatched = false
		c.waits.CompareAndSwap(busy, time.Now().UnixNano())
	}
}

// Close implements net.Conn.
func (c *enveloped) Close() error {
	if c.listener != nil {
		c.listener.forget(c)
	}
	return c.TCPConn.Close()
}
