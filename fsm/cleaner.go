package fsm

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// cleaner compacts the store after a purge, so that what was deleted leaves the
// data files too and not only the answers (C-56). A run that a shutdown cuts
// short is begun again at the next start. What the store's own list of files
// says of the names at their edges goes with the second start after that.
type cleaner struct {
	mu     sync.Mutex
	goal   uint64 // the purge to be cleaned up after
	cancel context.CancelFunc
	done   chan struct{} // closed when no run is under way; nil = there was none
}

// start begins a run, or has the one under way followed by another.
func (c *cleaner) start(db *pebble.DB, purge uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goal = purge
	if c.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.done = cancel, make(chan struct{})
	go c.run(ctx, db)
}

func (c *cleaner) run(ctx context.Context, db *pebble.DB) {
	defer close(c.done)
	for goal := c.next(0); goal > 0; goal = c.next(goal) {
		err := db.Compact(ctx, []byte{spaceStore}, []byte{spaceTenant + 1}, false)
		if err == nil {
			err = db.Set(storeKeyOf(storeClean), binary.BigEndian.AppendUint64(nil, goal), pebble.NoSync)
		}
		if err != nil {
			c.end() // the next start begins again
			return
		}
	}
}

func (c *cleaner) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	c.cancel = nil
}

// next returns the purge to clean up after, once done was seen to; 0 ends the
// run.
func (c *cleaner) next(done uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goal > done {
		return c.goal
	}
	c.cancel()
	c.cancel = nil
	return 0
}

// stop ends the run under way and waits for it.
func (c *cleaner) stop() {
	c.mu.Lock()
	if c.cancel != nil {
		c.goal = 0
		c.cancel()
	}
	done := c.done
	c.mu.Unlock()
	if done != nil {
		<-done
	}
}

// Cleaned waits until what was purged has left this node's data files.
func (m *Machine) Cleaned(ctx context.Context) error {
	m.cleaner.mu.Lock()
	done := m.cleaner.done
	m.cleaner.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cleanedTo returns the last purge that has left the store's files.
func cleanedTo(r pebble.Reader) (uint64, error) {
	b, err := get(r, storeKeyOf(storeClean))
	if err != nil || len(b) != 8 {
		return 0, err
	}
	return binary.BigEndian.Uint64(b), nil
}
