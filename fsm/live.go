package fsm

import "abagraph/fact"

// Live returns the facts of one subject and predicate that hold now, and the tx
// at which they do, where the timeline is hot; ok is false where it is not, and
// a View must be asked. It touches no storage. The facts are shared with the
// cache and must not be changed; they are in no particular order.
func (m *Machine) Live(scope fact.Scope, subject, predicate string, now fact.Instant) (facts []fact.Fact, tx uint64, ok bool) {
	if scope.All {
		return nil, 0, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.hot.get(lineKey{space{scope.Tenant, scope.Branch}, subject, predicate})
	if !ok {
		return nil, 0, false
	}
	facts = e.active
	for i := range facts {
		if !facts[i].Holds(now) {
			return holding(facts, now), m.state.Tx, true
		}
	}
	return facts, m.state.Tx, true
}

func holding(facts []fact.Fact, now fact.Instant) []fact.Fact {
	var kept []fact.Fact
	for i := range facts {
		if facts[i].Holds(now) {
			kept = append(kept, facts[i])
		}
	}
	return kept
}
