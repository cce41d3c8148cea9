package model

import (
	"slices"

	"abagraph/fact"
)

// event is one change, told by ids: it is read back as the facts were at its
// tx. Of one whose fact has since been deleted only what it did to others is told (C-33).
type event struct {
	op    fact.Op
	tx    uint64
	on    string // the branch
	id    fact.ID
	ended []fact.ID
	// expired is what is still told of a fact that the sweep deleted.
	expired *fact.Fact
}

// tellAssert adds the events of one assert: its fact, with what it ended or
// moved, then each continuation.
func (d *draft) tellAssert(r *fact.AssertResult) {
	e := event{op: fact.OpAssert, tx: d.tx, on: d.req.Branch, id: r.Fact.ID}
	for i := range r.Superseded {
		e.ended = append(e.ended, r.Superseded[i].ID)
	}
	for i := range r.Moved {
		e.ended = append(e.ended, r.Moved[i].ID)
	}
	d.told = append(d.told, e)
	for i := range r.Continuations {
		d.told = append(d.told, event{op: fact.OpAssert, tx: d.tx, on: d.req.Branch, id: r.Continuations[i].ID})
	}
}

func (d *draft) tell(op fact.Op, id fact.ID) {
	d.told = append(d.told, event{op: op, tx: d.tx, on: d.req.Branch, id: id})
}

// tellExpired tells of a fact that is gone all but its content.
func (d *draft) tellExpired(v *version) {
	left := v.Fact
	left.Object, left.Source, left.Properties = fact.Object{}, nil, nil
	left.Tx, left.VersionAt, left.VersionKnownAt = d.tx, d.last, d.last
	d.told = append(d.told, event{op: fact.OpExpire, tx: d.tx, on: d.req.Branch, id: v.ID, expired: &left})
}

// Events replays every event after a tx, as the facts were at each one's tx.
func (m *Model) Events(scope fact.Scope, after uint64) []fact.Event {
	var list []fact.Event
	for _, e := range m.events {
		f := e.expired
		if f == nil {
			f = m.at(e, e.id)
		}
		if e.tx <= after {
			continue
		}
		var ended []fact.Fact
		for _, id := range e.ended {
			if v := m.at(e, id); v != nil {
				ended = append(ended, *v)
			}
		}
		switch {
		case f != nil && within(scope, f.Tenant, e.on):
			list = append(list, fact.Event{Op: e.op, Tx: e.tx, Fact: *f, Superseded: ended})
		case f == nil && len(ended) > 0 && within(scope, ended[0].Tenant, e.on):
			for _, v := range ended {
				list = append(list, fact.Event{Op: fact.OpSupersede, Tx: e.tx, Fact: v})
			}
		}
	}
	return list
}

// at returns the version of a fact that an event's tx made.
func (m *Model) at(e event, id fact.ID) *fact.Fact {
	i := slices.IndexFunc(m.versions, func(v version) bool { return v.ID == id && v.Tx == e.tx && v.on == e.on })
	if i < 0 {
		return nil
	}
	return &m.versions[i].Fact
}
