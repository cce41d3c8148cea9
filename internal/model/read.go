package model

import (
	"slices"

	"abagraph/fact"
)

// view returns the facts of a scope as they were at one point of record time,
// and the now of that point (C-20 to C-22).
func (m *Model) view(scope fact.Scope, at fact.At) (rows []version, now fact.Instant) {
	now = at.Now
	counts := func(*version) bool { return true }
	switch {
	case at.Pinned:
		counts = func(v *version) bool { return v.Tx <= at.Tx }
		if at.Tx > 0 && at.Tx <= m.Tx() {
			now = m.times[at.Tx-1]
		}
	case at.KnownAt.Given() && at.NoBackfill:
		now = at.KnownAt
		counts = func(v *version) bool { return v.VersionAt <= at.KnownAt }
	case at.KnownAt.Given():
		now = at.KnownAt
		counts = func(v *version) bool { return v.VersionKnownAt <= at.KnownAt }
	}
	rows = m.rows(func(v *version) bool { return within(scope, v.Tenant, v.on) && counts(v) && !m.dropped(v, at) })
	return rows, now
}

func within(scope fact.Scope, tenant, branch string) bool {
	return branch == scope.Branch && (scope.All || tenant == scope.Tenant)
}

// dropped reports whether a version was written on a branch that had been
// discarded at the point of record time that is read.
func (m *Model) dropped(v *version, at fact.At) bool {
	b := m.branchOf(v.Tenant, v.on)
	if b == nil || b.Status != fact.BranchDiscarded || v.home != v.on {
		return false
	}
	switch {
	case at.Pinned:
		return at.Tx >= b.ClosedTx
	case at.KnownAt.Given():
		return m.txAt(at.KnownAt) >= b.ClosedTx
	}
	return true
}

// Facts answers a query, in the order of lists (C-20 to C-25).
func (m *Model) Facts(q *fact.Query) []fact.Fact {
	rows, now := m.view(q.Scope, q.At)
	rows = only(rows, func(v *version) bool {
		return (q.Subject == "" || v.Subject == q.Subject) &&
			(q.Predicate == "" || v.Predicate == q.Predicate) &&
			(len(q.Predicates) == 0 || slices.Contains(q.Predicates, v.Predicate)) &&
			(len(q.Objects) == 0 || slices.ContainsFunc(q.Objects, v.Object.Equal)) &&
			(!q.TxGtGiven || v.Tx > q.TxGt) && wanted(q, v, now)
	})
	limit := q.Limit
	if limit == 0 {
		limit = fact.DefaultLimit
	}
	if !q.TxGtGiven {
		rows = newestFirst(rows)
		return facts(rows[:min(limit, len(rows))])
	}
	return facts(wholeTxs(oldestFirst(rows), limit))
}

// wanted judges status and valid time.
func wanted(q *fact.Query, v *version, now fact.Instant) bool {
	retracted := q.IncludeRetracted && v.Status == fact.Retracted
	switch asOf := q.At.AsOf; {
	case q.StatusGiven:
		return q.Statuses.Has(v.Status) && (!asOf.Given() || v.Holds(asOf))
	case asOf.Given():
		return (stands(v) || retracted) && v.Holds(asOf)
	case q.TxGtGiven:
		return true
	}
	return v.Status == fact.Active && v.Holds(now) || retracted
}

// wholeTxs cuts a page between two tx; a first tx larger than the limit comes
// whole (C-24).
func wholeTxs(rows []version, limit int) []version {
	if len(rows) <= limit {
		return rows
	}
	end := limit
	for end > 0 && rows[end-1].Tx == rows[end].Tx {
		end--
	}
	if end == 0 {
		for end = 1; end < len(rows) && rows[end].Tx == rows[0].Tx; {
			end++
		}
	}
	return rows[:end]
}

// Fact returns one fact, of whatever status, with every piece of its statement
// by valid_from; nil if there is none (C-16).
func (m *Model) Fact(scope fact.Scope, id fact.ID, at fact.At) (*fact.Fact, []fact.Fact) {
	rows, _ := m.view(scope, at)
	named := only(rows, func(v *version) bool { return v.ID == id })
	if len(named) == 0 {
		return nil, nil
	}
	return &named[0].Fact, facts(piecesOf(&named[0], rows))
}

func piecesOf(f *version, rows []version) []version {
	return byTime(only(rows, func(v *version) bool {
		return v.Tenant == f.Tenant && v.Statement() == f.Statement()
	}))
}

// History returns the life of one fact; nil if there is none (C-58).
func (m *Model) History(scope fact.Scope, id fact.ID) *fact.History {
	rows, _ := m.view(scope, fact.Present(m.last))
	named := only(rows, func(v *version) bool { return v.ID == id })
	if len(named) == 0 {
		return nil
	}
	f := &named[0]
	pieces := piecesOf(f, rows)
	versions := only(m.versions, func(v *version) bool {
		return contains(pieces, v) && v.on == scope.Branch && !m.dropped(v, fact.Present(m.last))
	})
	timeline := byTime(only(rows, func(v *version) bool {
		return v.Tenant == f.Tenant && v.Subject == f.Subject && v.Predicate == f.Predicate
	}))
	return &fact.History{
		Fact: f.Fact, Pieces: facts(pieces), Versions: facts(oldestFirst(versions)), Timeline: facts(timeline),
	}
}

// Entities lists the subjects of any fact, each with the number of its facts
// that hold, in the order of their bytes.
func (m *Model) Entities(q *fact.EntityQuery) []fact.Entity {
	rows, now := m.view(q.Scope, q.At)
	if q.At.Past() || q.At.AsOf.Given() {
		rows = only(rows, func(v *version) bool { return wanted(&fact.Query{At: q.At}, v, now) })
	}
	var list []fact.Entity
	for _, subject := range page(q, rows, func(v *version) string { return v.Subject }) {
		holding := only(rows, func(v *version) bool {
			return v.Subject == subject && wanted(&fact.Query{At: q.At}, v, now)
		})
		list = append(list, fact.Entity{ID: subject, FactCount: len(holding)})
	}
	return list
}

// Predicates lists the predicates of any fact in the order of their bytes.
func (m *Model) Predicates(q *fact.EntityQuery) []string {
	rows, now := m.view(q.Scope, q.At)
	if q.At.Past() || q.At.AsOf.Given() {
		rows = only(rows, func(v *version) bool { return wanted(&fact.Query{At: q.At}, v, now) })
	}
	return page(q, rows, func(v *version) string { return v.Predicate })
}

// page lists the distinct names after q.After, as many as its limit allows.
func page(q *fact.EntityQuery, rows []version, name func(*version) string) []string {
	names := slices.DeleteFunc(names(rows, name), func(s string) bool { return s <= q.After })
	limit := q.Limit
	if limit == 0 {
		limit = fact.DefaultLimit
	}
	return names[:min(limit, len(names))]
}

func names(rows []version, name func(*version) string) []string {
	var list []string
	for i := range rows {
		list = append(list, name(&rows[i]))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Stats counts the facts of a scope by status. Who may see one tenant only
// counts one tenant; the ownerless scope is none. A name in two tenants is two
// entities, but one predicate.
func (m *Model) Stats(scope fact.Scope) fact.Stats {
	rows, _ := m.view(scope, fact.Present(m.last))
	count := func(s fact.Status) uint64 {
		return uint64(len(only(rows, func(v *version) bool { return v.Status == s })))
	}
	stats := fact.Stats{
		Active: count(fact.Active), Candidate: count(fact.Candidate),
		Superseded: count(fact.Superseded), Retracted: count(fact.Retracted),
		Entities:   uint64(len(names(rows, func(v *version) string { return v.Tenant + "/" + v.Subject }))),
		Predicates: uint64(len(names(rows, func(v *version) string { return v.Predicate }))),
		Tenants:    1,
	}
	if scope.All {
		owned := only(rows, func(v *version) bool { return v.Tenant != "" })
		stats.Tenants = uint64(len(names(owned, func(v *version) string { return v.Tenant })))
	}
	return stats
}

// Whole returns everything that a tenant's branch ever said and still has: each
// fact as it is, and the versions that were replaced.
func (m *Model) Whole(tenant, branch string) (now []fact.Fact, replaced []fact.Fact) {
	here := func(v *version) bool { return v.Tenant == tenant && v.on == branch }
	rows := m.rows(here)
	for i := range m.versions {
		v := &m.versions[i]
		if here(v) && !slices.ContainsFunc(rows, func(r version) bool { return r.ID == v.ID && r.Tx == v.Tx }) {
			replaced = append(replaced, v.Fact)
		}
	}
	return facts(rows), replaced
}
