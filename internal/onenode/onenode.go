// Package onenode is an engine of one node without a log, for the tests of what
// stands above the engine: each request is applied to a real state machine in
// memory at once. Its clock is the test's.
package onenode

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
	"abagraph/memory"
)

// Node implements memory.Engine.
type Node struct {
	machine *fsm.Machine
	mu      sync.Mutex
	index   uint64
	ahead   atomic.Int64 // what the clock is ahead of the real one, in milliseconds
	held    atomic.Int64 // where the clock stands still; 0 = it goes
}

// Start opens an empty store, which ends with the test.
func Start(t testing.TB) *Node {
	t.Helper()
	return StartWith(t, fsm.Options{CacheBytes: 8 << 20, MemTableBytes: 4 << 20})
}

// StartWith opens an empty store with options of its own, for measurements.
func StartWith(t testing.TB, o fsm.Options) *Node {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	machine, err := fsm.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &Node{machine: machine}
	if _, err := n.apply(entry.EncodeTick(n.Now())); err != nil { // as every leader does first
		t.Fatal(err)
	}
	return n
}

// Copy opens another node that has this one's state from a snapshot, and knows
// nothing else of it: a node that was started again, or one that joined. Nothing may
// be written meanwhile.
func (n *Node) Copy(t testing.TB) *Node {
	t.Helper()
	const dir = "copy"
	if err := n.machine.Checkpoint(dir); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := fsm.WriteArchive(n.machine.FS(), dir, &archive); err != nil {
		t.Fatal(err)
	}
	if err := n.machine.FS().RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	machine, err := fsm.Open(fsm.Options{CacheBytes: 8 << 20, MemTableBytes: 4 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := fsm.ReadArchive(machine.FS(), &archive, dir); err != nil {
		t.Fatal(err)
	}
	if err := machine.RestoreDir(dir); err != nil {
		t.Fatal(err)
	}
	other := &Node{machine: machine, index: n.index}
	other.ahead.Store(n.ahead.Load())
	return other
}

// Service opens the door to the node; what the options leave open of the
// engine's side is set.
func (n *Node) Service(t testing.TB, o memory.Options) *memory.Service {
	t.Helper()
	o.Engine, o.View, o.Live = n, n.View, n.machine.Live
	if o.RegistryVersion == nil {
		o.RegistryVersion = n.machine.RegistryVersion
	}
	if o.PolicyVersion == nil {
		o.PolicyVersion = func() uint64 { return n.machine.PolicyVersion() + 1 }
	}
	if o.Leads == nil {
		o.Leads = func() bool { return true }
	}
	s, err := memory.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Advance sets the node's clock forward.
func (n *Node) Advance(d time.Duration) { n.ahead.Add(d.Milliseconds()) }

// Hold has the node's clock stand still at an instant until the next Hold.
func (n *Node) Hold(at fact.Instant) { n.held.Store(int64(at)) }

// Now is the node's clock.
func (n *Node) Now() fact.Instant {
	if at := n.held.Load(); at != 0 {
		return fact.Instant(at)
	}
	return fact.Instant(time.Now().UnixMilli() + n.ahead.Load())
}

// View opens a view of the store.
func (n *Node) View(ctx context.Context) (memory.View, error) {
	v, err := n.machine.ViewWithin(ctx)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Propose applies one request.
func (n *Node) Propose(_ context.Context, r *fact.Request) (*fact.Result, error) {
	applied, err := n.apply(entry.EncodeBatch(entry.Batch{ProposedAt: n.Now(), Requests: [][]byte{entry.EncodeRequest(r)}}))
	if err != nil {
		return nil, err
	}
	return applied.Results[0], nil
}

// Sweep applies one sweep.
func (n *Node) Sweep(t testing.TB) fsm.SweepReport {
	t.Helper()
	applied, err := n.apply(entry.EncodeSweep(n.Now()))
	if err != nil {
		t.Fatal(err)
	}
	return *applied.Sweep
}

func (n *Node) apply(data []byte) (*fsm.Applied, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.index++
	applied, err := n.machine.Apply([]fsm.Committed{{Index: n.index, Term: 1, Data: data}})
	if err != nil {
		return nil, err
	}
	return &applied[0], nil
}

// Basis is where the node stands.
func (n *Node) Basis(ctx context.Context, _ fact.Level, minTx uint64) (fact.Basis, error) {
	if err := n.machine.WaitTx(ctx, minTx); err != nil {
		return fact.Basis{}, err
	}
	p := n.machine.Position()
	return fact.Basis{Now: max(n.Now(), p.RecordedAt), Tx: p.Tx}, nil
}

// WaitTx waits until a tx is applied.
func (n *Node) WaitTx(ctx context.Context, tx uint64) error { return n.machine.WaitTx(ctx, tx) }

// Position is where the node stands.
func (n *Node) Position() fact.Position { return n.machine.Position() }
