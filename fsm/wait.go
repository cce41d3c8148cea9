package fsm

import (
	"context"

	"abagraph/fact"
)

// WaitIndex waits until the machine has applied a log index.
func (m *Machine) WaitIndex(ctx context.Context, index uint64) error {
	return m.wait(ctx, func(s *state) bool { return s.Index >= index })
}

// WaitTx waits until the machine has applied a tx.
func (m *Machine) WaitTx(ctx context.Context, tx uint64) error {
	return m.wait(ctx, func(s *state) bool { return s.Tx >= tx })
}

func (m *Machine) wait(ctx context.Context, reached func(*state) bool) error {
	for {
		m.mu.RLock()
		ok, closed, halted, changed := reached(&m.state), m.closed, m.halted, m.changed
		m.mu.RUnlock()
		switch {
		case ok:
			return nil
		case closed:
			return ErrClosed
		case halted:
			return errHalted
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// SweepDue reports whether a sweep at this time would find anything to do.
func (m *Machine) SweepDue(now fact.Instant) (bool, error) {
	v, err := m.View()
	if err != nil {
		return false, err
	}
	defer v.Close()
	return v.sweepDue(now)
}

// DigestAt returns the digest of the state at a tx.
func (m *Machine) DigestAt(tx uint64) ([32]byte, error) {
	v, err := m.View()
	if err != nil {
		return [32]byte{}, err
	}
	defer v.Close()
	return digestAt(v.snap, tx)
}
