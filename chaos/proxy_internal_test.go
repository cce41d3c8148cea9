package chaos

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo listens and sends every line back.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn) // it ends with the connection
			}()
		}
	}()
	return listener.Addr().String()
}

func dial(t *testing.T, p *proxy) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

func say(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if _, err := conn.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, conn net.Conn, r *bufio.Reader, want string) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.ReadString('\n'); err != nil || got != want+"\n" {
		t.Fatalf("heard %q, %v, want %q", got, err, want)
	}
}

// TestLinkModes takes one connection through everything that a link can do.
func TestLinkModes(t *testing.T) {
	network := newNetwork()
	street := func(net.Conn) (string, error) { return Street, nil }
	p, err := openProxy(network, "n1", echo(t), street)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.close() })

	conn, r := dial(t, p)
	say(t, conn, "clear")
	hear(t, conn, r, "clear")

	// A silent link, this way or that, gives nothing and loses nothing.
	for _, ends := range [][2]string{{Street, "n1"}, {"n1", Street}} {
		network.Set(ends[0], ends[1], Silent)
		say(t, conn, "held")
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if b, err := r.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("through a silent link came %q, %v", b, err)
		}
		network.Heal()
		hear(t, conn, r, "held")
	}

	// Another end's links are none of this one's.
	network.Cut(Refused, "n2", Street)
	say(t, conn, "other")
	hear(t, conn, r, "other")

	network.Cut(Refused, "n1", Street)
	if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a refused link left the connection open: %v", err)
	}
	again, r := dial(t, p)
	if _, err := r.ReadByte(); err == nil {
		t.Fatal("a refused link took a new connection")
	}
	again.Close()
	network.Heal()
	conn, r = dial(t, p)
	say(t, conn, "healed")
	hear(t, conn, r, "healed")
}

// TestDiallerIsFound looks up connections of this process, and of none.
func TestDiallerIsFound(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	out, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, c := range []struct {
		pids []int
		want int
	}{{[]int{1 << 30, os.Getpid()}, os.Getpid()}, {[]int{1 << 30}, 0}, {nil, 0}} {
		if got, err := diallerOf(in, c.pids); err != nil || got != c.want {
			t.Errorf("among %v dialled %d, %v, want %d", c.pids, got, err, c.want)
		}
	}
}

// TestClosedProxyLeavesNothing closes a proxy whose link is silent, with a
// connection and bytes in it: it must not wait for them.
func TestClosedProxyLeavesNothing(t *testing.T) {
	network := newNetwork()
	p, err := openProxy(network, "n1", echo(t), func(net.Conn) (string, error) { return Street, nil })
	if err != nil {
		t.Fatal(err)
	}
	conn, _ := dial(t, p)
	network.Cut(Silent, "n1", Street)
	say(t, conn, "held")
	closed := make(chan error, 1)
	go func() { closed <- p.close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("a proxy with a silent link could not be closed")
	}
}
