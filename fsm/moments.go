package fsm

import (
	"sync"

	"abagraph/fact"
)

// moments remembers the record times that a view was asked for last: a walk or a
// packet of the past asks for the same ones with each of its reads.
type moments struct {
	mu sync.Mutex
	// tx was recorded at recorded; 0 = nothing is remembered.
	tx       uint64
	recorded fact.Instant
	// of is the last tx not later than until.
	of    uint64
	until fact.Instant
	asked bool
}

func (m *moments) recordTime(tx uint64) (fact.Instant, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recorded, m.tx == tx
}

func (m *moments) keepRecordTime(tx uint64, t fact.Instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tx, m.recorded = tx, t
}

func (m *moments) txAt(t fact.Instant) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of, m.asked && m.until == t
}

func (m *moments) keepTxAt(t fact.Instant, tx uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of, m.until, m.asked = tx, t, true
}
