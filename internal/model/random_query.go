package model

import (
	"slices"

	"abagraph/fact"
)

// Scope returns a tenant's scope, or that of all.
func (r *Random) Scope() fact.Scope {
	s := fact.Scope{Tenant: pick(r, tenants), All: r.oneIn(4)}
	s.Branch = r.branch(s.Tenant)
	return s
}

// Query returns a random read of what Model holds: present or past, by valid
// time or live, filtered and paged.
func (r *Random) Query() *fact.Query {
	q := &fact.Query{Scope: r.Scope(), At: r.At()}
	if r.oneIn(2) {
		q.Subject = pick(r, subjects)
	}
	if r.oneIn(3) {
		q.Predicate = pick(r, predicates)
	}
	for r.oneIn(4) {
		q.Objects = append(q.Objects, pick(r, objects))
	}
	for r.oneIn(5) {
		q.Predicates = append(q.Predicates, pick(r, predicates))
	}
	if r.oneIn(3) {
		q.StatusGiven = true
		q.Statuses = fact.StatusSet(r.rnd.IntN(int(fact.AllStatuses)+1)) & fact.AllStatuses
	}
	q.IncludeRetracted = r.oneIn(4)
	if r.oneIn(4) {
		q.TxGtGiven, q.TxGt = true, r.tx()
	}
	if r.oneIn(3) {
		q.Limit = 1 + r.rnd.IntN(6)
	}
	return q
}

// EntityQuery returns a random read of entities or predicates.
func (r *Random) EntityQuery() *fact.EntityQuery {
	q := &fact.EntityQuery{Scope: r.Scope(), At: r.At()}
	if r.oneIn(3) {
		q.After = pick(r, slices.Concat(predicates, subjects))
	}
	if r.oneIn(3) {
		q.Limit = 1 + r.rnd.IntN(2)
	}
	return q
}

// At returns a point on both axes of time. Its now is never earlier than the
// newest record time.
func (r *Random) At() fact.At {
	at := fact.Present(r.now() + fact.Instant(r.rnd.IntN(2))*gridStep)
	switch r.rnd.IntN(4) {
	case 0:
		at.Pinned, at.Tx = true, r.tx()
	case 1:
		at.KnownAt, at.NoBackfill = r.known(), r.oneIn(3)
	}
	if r.oneIn(2) {
		at.AsOf = r.valid()
	}
	return at
}

// ID returns the id of a fact that was seen, or of none.
func (r *Random) ID() fact.ID { return r.anyID(pick(r, tenants)) }

func (r *Random) tx() uint64 { return r.rnd.Uint64N(r.Model.Tx() + 1) }

func (r *Random) now() fact.Instant {
	if r.Model.RecordedAt().Given() {
		return r.Model.RecordedAt()
	}
	return r.clock
}

// known returns a time around that of some tx, or one of declarations.
func (r *Random) known() fact.Instant {
	if r.Model.Tx() == 0 || r.oneIn(3) {
		return r.now() - fact.Instant(r.rnd.IntN(100))
	}
	return r.Model.times[r.rnd.IntN(len(r.Model.times))] + fact.Instant(r.rnd.IntN(3)) - 1
}
