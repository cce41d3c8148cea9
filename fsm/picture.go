package fsm

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// picture is a snapshot of the store that all views of one state share. To open one
// and to close it takes the store's own lock, and the close of the oldest looks for
// compactions that it kept from: more than many a read takes.
type picture struct {
	snap  *pebble.Snapshot
	state state
	users atomic.Int64 // views, and pictures where it is the present one
}

// pictures keeps the picture of the present state, once somebody has asked for it, until
// the state moves on.
type pictures struct {
	mu      sync.Mutex
	present *picture
}

// take returns the picture of a state. The caller holds the machine's lock for reading,
// so that the state stays what it is.
func (p *pictures) take(m *Machine) (*picture, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.present != nil {
		p.present.users.Add(1)
		return p.present, nil
	}
	before := m.commits.Load()
	own := &picture{snap: m.db.NewSnapshot(), state: m.state}
	own.users.Store(1)
	if before%2 == 0 && m.commits.Load() == before {
		own.users.Add(1)
		p.present = own
		return own, nil
	}
	// A batch was being committed: the snapshot itself says what it holds.
	st, err := loadState(own.snap)
	if err != nil {
		_ = own.release() // the first error tells more
		return nil, err
	}
	own.state = st
	return own, nil
}

// leave lets go of the present picture: the state moves, or the store is closed.
func (p *pictures) leave() error {
	p.mu.Lock()
	old := p.present
	p.present = nil
	p.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.release()
}

// release closes the snapshot after its last user.
func (p *picture) release() error {
	if p.users.Add(-1) > 0 {
		return nil
	}
	return p.snap.Close()
}
