package replication

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"
)

// TestPeerPortIsBounded: connections that say nothing keep no peer out, and no more are
// held than may be.
func TestPeerPortIsBounded(t *testing.T) {
	direct := func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	listen := func(id string) *port {
		p, err := openPort(&Options{NodeID: id, Bind: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), dial: direct}, credentials{})
		if err != nil {
			t.Fatal(err)
		}
		p.serve = func(conn net.Conn, _ greeting) { _, _ = conn.Read(make([]byte, 1)) } // until it is closed
		p.start()
		t.Cleanup(p.close)
		return p
	}
	server, peer := listen("server"), listen("peer")
	for range 4 * maxHandshakes {
		conn, err := direct(t.Context(), server.advertise)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	guest := func() (net.Conn, error) { return peer.dial(t.Context(), server.advertise, streamGuest) }
	if _, err := guest(); err != nil { // the oldest of those that are silent gives way
		t.Fatal(err)
	}
	refused := false
	for range maxPeerConns {
		conn, err := direct(t.Context(), server.advertise)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if greet(conn, greeting{stream: streamGuest, from: "guest"}) != nil {
			refused = true
			break
		}
	}
	server.mu.Lock()
	held, fresh := len(server.conns), len(server.fresh)
	server.mu.Unlock()
	if !refused || held > maxPeerConns || fresh > maxHandshakes {
		t.Errorf("%d connections are held, %d of them not greeted; one was refused: %v", held, fresh, refused)
	}
}
