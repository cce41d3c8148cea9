package fsm

import (
	"context"
)

// Compact rewrites every table of the store, so that what was deleted or replaced
// takes no more room. It is for a store that no node runs on.
func (m *Machine) Compact(ctx context.Context) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	if err := m.db.Compact(ctx, []byte{0}, []byte{0xff}, true); err != nil {
		return storageError("compact the store", err)
	}
	return nil
}
