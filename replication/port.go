package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// The bounds of the peer port.
const (
	maxPeerConns  = 512 // connections at once
	maxHandshakes = 64  // of these, not yet greeted: the oldest gives way to a new one
)

// port is the one peer port of a node: it listens, authenticates, and hands each
// connection on by what it carries. Raft's streams go to raftStreams, which is
// the raft.StreamLayer.
type port struct {
	nodeID    string
	advertise string
	creds     credentials
	listener  net.Listener
	dialer    func(ctx context.Context, address string) (net.Conn, error)
	logger    *slog.Logger
	// cluster is nil until the node is a member: till then nobody may speak
	// Raft with it, so that a node that has lost its data cannot vote.
	cluster atomic.Pointer[clusterID]
	// serve answers the calls of one connection until it ends.
	serve func(conn net.Conn, g greeting)
	// claimed is told of a node that takes this one for a member of a cluster
	// that it is not in.
	claimed func(by string)

	streams chan net.Conn
	ctx     context.Context // ends when the port closes
	cancel  context.CancelFunc
	once    sync.Once
	wg      sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	fresh []net.Conn // not yet greeted, in the order of coming
}

func openPort(o *Options, creds credentials) (*port, error) {
	listener, err := net.Listen("tcp", o.Bind)
	if err != nil {
		return nil, fmt.Errorf("listen for peers: %w", err)
	}
	p := &port{
		nodeID: o.NodeID, advertise: o.Advertise, creds: creds, listener: listener,
		dialer: o.dial, logger: o.Logger,
		streams: make(chan net.Conn), conns: make(map[net.Conn]bool),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if p.advertise == "" {
		p.advertise = listener.Addr().String()
	}
	if host, _, _ := net.SplitHostPort(p.advertise); host == "" || net.ParseIP(host).IsUnspecified() {
		listener.Close()
		return nil, fmt.Errorf("listening for peers on %s: name the address that other nodes reach this one by (--peer-advertise)", o.Bind)
	}
	return p, nil
}

// start accepts connections until close. serve must be set before.
func (p *port) start() {
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		p.accept()
	}()
}

func (p *port) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if p.ctx.Err() != nil {
				return
			}
			p.logger.Warn("abagraph.peer.accept_error", "error", err)
			select {
			case <-time.After(100 * time.Millisecond): // out of files, say
				continue
			case <-p.ctx.Done():
				return
			}
		}
		p.receive(conn)
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			p.handle(conn)
		}()
	}
}

// receive counts a connection that has not greeted yet. Whoever connects and says
// nothing keeps no peer out.
func (p *port) receive(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh = append(p.fresh, conn); len(p.fresh) > maxHandshakes {
		p.fresh[0].Close()
		p.fresh = slices.Delete(p.fresh, 0, 1)
	}
}

func (p *port) greeted(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh = slices.DeleteFunc(p.fresh, func(c net.Conn) bool { return c == conn })
}

// handle greets one connection and passes it on.
func (p *port) handle(raw net.Conn) {
	conn := p.creds.acceptSide(raw)
	if !p.track(conn) {
		p.greeted(raw)
		conn.Close()
		return
	}
	g, err := p.welcome(conn)
	p.greeted(raw)
	if err != nil {
		p.logger.Debug("abagraph.peer.turned_away", "from", raw.RemoteAddr().String(), "error", err)
		p.drop(conn)
		return
	}
	if g.stream != streamRaft {
		defer p.drop(conn)
		p.serve(conn, g)
		return
	}
	select {
	case p.streams <- &trackedConn{Conn: conn, port: p}:
	case <-p.ctx.Done():
		p.drop(conn)
	}
}

// welcome reads the greeting within its time and judges it.
func (p *port) welcome(conn net.Conn) (greeting, error) {
	if err := conn.SetDeadline(time.Now().Add(greetingWait)); err != nil {
		return greeting{}, err
	}
	g, err := readGreeting(conn)
	if err != nil {
		return g, err
	}
	reason := p.judge(g)
	if err := answer(conn, reason); err != nil {
		return g, err
	}
	if reason != "" {
		return g, errors.New(reason)
	}
	return g, conn.SetDeadline(time.Time{})
}

func (p *port) judge(g greeting) string {
	mine := p.cluster.Load()
	switch {
	case g.stream == streamGuest:
		return ""
	case g.stream != streamRaft && g.stream != streamWrites && g.stream != streamControl:
		return "it knows no such stream"
	case mine == nil:
		return "it is not a member of a cluster yet"
	case g.cluster != *mine:
		if p.claimed != nil && g.cluster != (clusterID{}) {
			p.claimed(g.from)
		}
		return "it belongs to another cluster"
	}
	return ""
}

// dial connects to a peer and greets it.
func (p *port) dial(ctx context.Context, address string, kind stream) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetingWait)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	raw, err := p.dialer(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("connect to peer %s: %w", address, err)
	}
	conn := p.creds.dialSide(raw, address)
	if !p.track(conn) {
		conn.Close()
		return nil, errPortClosed
	}
	g := greeting{stream: kind, from: p.nodeID}
	if mine := p.cluster.Load(); mine != nil {
		g.cluster = *mine
	}
	deadline, _ := ctx.Deadline()
	err = conn.SetDeadline(deadline)
	if err == nil {
		err = greet(conn, g)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		p.drop(conn)
		return nil, fmt.Errorf("connect to peer %s: %w", address, err)
	}
	return &trackedConn{Conn: conn, port: p}, nil
}

var errPortClosed = errors.New("the peer port is closed")

// track counts a connection, so that close ends it; false = too many, or closed.
func (p *port) track(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil || len(p.conns) >= maxPeerConns {
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *port) drop(conn net.Conn) error {
	p.mu.Lock()
	delete(p.conns, conn)
	p.mu.Unlock()
	return conn.Close()
}

// trackedConn leaves the port's count when it is closed.
type trackedConn struct {
	net.Conn
	port *port
}

func (c *trackedConn) Close() error { return c.port.drop(c.Conn) }

// hangUp stops listening and ends every connection.
func (p *port) hangUp() {
	p.once.Do(func() {
		p.cancel()
		p.listener.Close()
		p.mu.Lock()
		conns := p.conns
		p.conns = nil
		p.mu.Unlock()
		for conn := range conns {
			conn.Close()
		}
	})
}

// close hangs up and waits for the goroutines of all connections.
func (p *port) close() {
	p.hangUp()
	p.wg.Wait()
}

// raftStreams is the port as Raft sees it.
type raftStreams struct{ *port }

// Accept returns the next Raft stream.
func (s raftStreams) Accept() (net.Conn, error) {
	select {
	case conn := <-s.streams:
		return conn, nil
	case <-s.ctx.Done():
		return nil, errPortClosed
	}
}

// Dial opens a Raft stream to a peer.
func (s raftStreams) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := s.dial(ctx, string(address), streamRaft)
	if err != nil {
		return nil, err
	}
	return &patientConn{Conn: conn}, nil
}

// Close does nothing: the node closes the port when Raft has stopped.
func (s raftStreams) Close() error { return nil }

// Addr is what other nodes reach this one by.
func (s raftStreams) Addr() net.Addr { return peerAddr(s.advertise) }

type peerAddr string

func (a peerAddr) Network() string { return "tcp" }
func (a peerAddr) String() string  { return string(a) }
