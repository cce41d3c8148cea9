package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
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
	quality map[[2]string]Quality
	changed chan struct{} // closed and replaced at each change
}

func newNetwork() *Network {
	return &Network{links: make(map[[2]string]Mode), quality: make(map[[2]string]Quality), changed: make(chan struct{})}
}

// Quality is how badly a clear link works. The links carry streams, which TCP keeps
// whole: a packet that is lost shows as a pause until it has been sent again.
type Quality struct {
	Delay, Jitter time.Duration
	// Loss is the share of pieces, 0 to 1, that are lost and wait for Resend.
	Loss   float64
	Resend time.Duration
}

func (q Quality) pause() time.Duration {
	d := q.Delay
	if q.Jitter > 0 {
		d += rand.N(q.Jitter)
	}
	if q.Loss > 0 && rand.Float64() < q.Loss {
		d += q.Resend
	}
	return d
}

// Worsen changes how well both directions between one end and each of the others
// work. Heal mends them.
func (n *Network) Worsen(q Quality, one string, others ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, other := range others {
		n.quality[[2]string{one, other}] = q
		n.quality[[2]string{other, one}] = q
	}
	n.announce()
}

// delay waits as long as a piece of bytes takes on a link.
func (n *Network) delay(ctx context.Context, from, to string) bool {
	n.mu.Lock()
	d := n.quality[[2]string{from, to}].pause()
	n.mu.Unlock()
	return d == 0 || rest(ctx, d)
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
	clear(n.quality)
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
