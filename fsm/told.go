package fsm

import (
	"context"

	"abagraph/fact"
)

// This file is about the moment between the answer to a write and its place in the
// store. A write is certain once the log has it and its outcome is known; putting its
// keys into the store takes as long again, and whoever waits for the answer need not
// wait for it. In that moment the store lacks what somebody was told: a View waits until
// it does not, and so does whoever reads by Told.

// early reports whether the outcomes of this call may be told before it is written. What
// changes who may do what is looked up in passing, by requests that do not wait: it is
// told when it is in force.
func (l *ledger) early() bool { return !l.late && !l.policy }

// telling takes down that the outcomes up to an index are about to be told.
func (m *Machine) telling(index uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = index
}

// Told returns the last index of which an outcome was told, or may have been. A read that
// waits for it misses nothing that anyone has heard of here.
func (m *Machine) Told() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return max(m.told, m.state.Index)
}

// halt takes down that the store could not be written: what was told stays out of it,
// and nothing is read from it any more.
func (m *Machine) halt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told > m.state.Index {
		m.halted = true
		m.announce()
	}
}

// lockSettled takes mu for reading once the store has what was told, or can never have
// it, or the context ends. The caller unlocks it, also after an error.
func (m *Machine) lockSettled(ctx context.Context) error {
	for {
		m.mu.RLock()
		switch {
		case m.closed:
			return ErrClosed
		case m.halted:
			return errHalted
		case m.told <= m.state.Index:
			return nil
		}
		changed := m.changed
		m.mu.RUnlock()
		select {
		case <-changed:
		case <-ctx.Done():
			m.mu.RLock()
			return ctx.Err()
		}
	}
}

var errHalted = fact.Errorf(fact.Closed, "this node's store could not be written: it lacks writes that were answered, and is not read until it has them")
