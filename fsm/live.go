package fsm

import "abagraph/fact"

// Live answers a live read of one subject, or of one of its predicates, and tells
// where the machine stood, if its rows are hot; ok is false where it is not, or the
// query is of another kind, and a View must be asked. It touches no storage.
func (m *Machine) Live(q *fact.Query) (page *fact.Page, at fact.Position, ok bool) {
	if q.Scope.All || q.Scope.Branch != fact.MainBranch || q.Subject == "" || q.StatusGiven || q.IncludeRetracted ||
		q.TxGtGiven || q.At.Past() || q.At.AsOf.Given() {
		return nil, fact.Position{}, false
	}
	m.mu.RLock()
	e, ok := m.hot.get(lineKey{space{q.Scope.Tenant, q.Scope.Branch}, q.Subject, q.Predicate})
	at = m.state.position()
	m.mu.RUnlock()
	if !ok || e.long {
		return nil, fact.Position{}, false
	}
	sel := selector{q: q, statuses: fact.StatusSet(0).With(fact.Active), at: max(q.At.Now, at.RecordedAt)}
	c := newCollector(q)
	for i := range e.active {
		c.scanned++
		if sel.accepts(&e.active[i]) {
			c.add(&e.active[i])
		}
	}
	return c.page(indexOf(q)), at, true
}
