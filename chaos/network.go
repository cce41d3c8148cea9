package chaos

import (
	"context"
	"sync"
)

// Mode is what a link does with the bytes that go one way.
type Mode uint8

// The modes of a link.
const (
	// Clear passes everything on.
	Clear Mode = iota
	// Silent holds everything back, as a cable that was pulled does: nobody is
	// told. What was held goes on its way when the link is clear again.
	Silent
	// Refused closes every connection, and each new one at once.
	Refused
)

// Street is the name of the end of a link where the clients are.
const Street = "street"

// Network is every link between nodes, and between the street and the nodes,
// one for each direction. It is safe for concurrent use.
type Network struct {
	mu      sync.Mutex
	links   map[[2]string]Mode
	changed chan struct{} // closed and replaced at each change
}

func newNetwork() *Network {
	return &Network{links: make(map[[2]string]Mode), changed: make(chan struct{})}
}

// Set changes what the link from one end to another does.
func (n *Network) Set(from, to string, mode Mode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[[2]string{from, to}] = mode
	n.announce()
}

// Cut changes both directions between one end and each of the others.
func (n *Network) Cut(mode Mode, one string, others ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, other := range others {
		n.links[[2]string{one, other}] = mode
		n.links[[2]string{other, one}] = mode
	}
	n.announce()
}

// Heal clears every link.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.links)
	n.announce()
}

func (n *Network) announce() {
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *Network) look(from, to string) (Mode, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[[2]string{from, to}], n.changed
}

// pass waits until a link is clear. It returns false where the link is refused
// or the context ends.
func (n *Network) pass(ctx context.Context, from, to string) bool {
	for {
		mode, changed := n.look(from, to)
		switch mode {
		case Clear:
			return ctx.Err() == nil
		case Refused:
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// refused waits until a link between two ends is refused in either direction.
func (n *Network) refused(ctx context.Context, a, b string) bool {
	for {
		there, changed := n.look(a, b)
		back, _ := n.look(b, a)
		if there == Refused || back == Refused {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
