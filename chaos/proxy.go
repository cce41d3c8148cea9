package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// proxy stands in front of one address of one node and passes connections on as
// the network says. It looks at no byte of them.
type proxy struct {
	network  *Network
	to       string // the node behind it
	target   string // where that listens
	listener net.Listener
	// who names the end that has dialled, or "" where it is gone already.
	who func(conn net.Conn) (string, error)

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func openProxy(network *Network, to, target string, who func(net.Conn) (string, error)) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen in front of %s: %w", to, err)
	}
	p := &proxy{network: network, to: to, target: target, listener: listener, who: who}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Add(1)
	go p.accept()
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends every connection and waits for them.
func (p *proxy) close() error {
	p.cancel()
	err := p.listener.Close()
	p.wg.Wait()
	return err
}

func (p *proxy) accept() {
	defer p.wg.Done()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			defer conn.Close()
			p.carry(conn)
		}()
	}
}

// carry passes one connection on until both ways of it have ended.
func (p *proxy) carry(conn net.Conn) {
	from, err := p.who(conn)
	if err != nil || from == "" {
		return
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	if mode, _ := p.network.look(from, p.to); mode == Refused {
		return
	}
	behind, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer behind.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Add(1)
	go func() { // ends the connection when the link is refused or all is over
		defer wg.Done()
		p.network.refused(ctx, from, p.to)
		conn.Close()
		behind.Close()
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.pump(ctx, cancel, behind, conn, from, p.to)
	}()
	p.pump(ctx, cancel, conn, behind, p.to, from)
	<-over
	cancel()
}

// pump passes bytes on one way. An end of the stream is passed on too; a broken
// connection ends both ways.
func (p *proxy) pump(ctx context.Context, cancel func(), to, from net.Conn, sender, receiver string) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.network.delay(ctx, sender, receiver) || !p.network.pass(ctx, sender, receiver) {
				cancel()
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				cancel()
				return
			}
		}
		if err == nil {
			continue
		}
		half, ok := to.(*net.TCPConn)
		if !errors.Is(err, io.EOF) || !ok || !p.network.pass(ctx, sender, receiver) || half.CloseWrite() != nil {
			cancel()
		}
		return
	}
}
