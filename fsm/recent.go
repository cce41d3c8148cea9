package fsm

import (
	"context"
	"slices"

	"abagraph/fact"
	"abagraph/log/entry"
)

// eventsPerLook is how many events are passed over for each assert that is looked
// at, at most: those of facts that are gone, and those that assert nothing.
const eventsPerLook = 16

// Recent returns what a read sees of the facts that were asserted last, the
// newest first: of the last look asserts at the record time that is read, the
// first limit that hold at the point of both times. Its cost is bounded by look,
// whatever the store holds, in the past too.
func (v *View) Recent(ctx context.Context, q *fact.Query, look int) ([]fact.Fact, error) {
	sel, err := v.selector(ctx, q)
	if err != nil {
		return nil, err
	}
	if !sel.past {
		sel.tx = v.state.Tx
	}
	tenants, err := v.tenants(q.Scope)
	if err != nil {
		return nil, err
	}
	var all []fact.Fact
	for _, tenant := range tenants {
		sheets, err := v.pile(space{tenant, q.Scope.Branch}, sel)
		if err != nil {
			return nil, err
		}
		left, had := look, len(all)
		for i := range sheets { // what a branch inherits is older than what it says
			room := sel.q.Limit - (len(all) - had)
			list, looked, err := v.recentOf(ctx, sheets, i, min(sel.tx, sheets[i].tx), left, room)
			if err != nil {
				return nil, err
			}
			left -= looked
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
	return all[:min(len(all), q.Limit)], nil
}

// Get returns one fact as a read sees it, of whatever status; nil where it sees
// none.
func (v *View) Get(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Fact, error) {
	sel, err := v.getting(ctx, at)
	if err != nil {
		return nil, err
	}
	sheets, f, err := v.locate(scope, id, sel)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(sheets) == 1 {
		return v.seen(sheets[0].space, f, sheets[0].sel)
	}
	f, _, err = v.topmost(sheets, id)
	return f, err
}

// GetFrom is Get for a fact of which somebody remembers where it lay. Where it still
// does, that spares the look for its place; and where it was got lately, and has not
// changed since, the store altogether.
func (v *View) GetFrom(ctx context.Context, scope fact.Scope, p *fact.Place, at fact.At) (*fact.Fact, error) {
	if scope.All || scope.Branch != fact.MainBranch {
		return v.Get(ctx, scope, p.ID, at)
	}
	s := space{scope.Tenant, scope.Branch}
	f, err := v.rowAt(s, p)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return v.Get(ctx, scope, p.ID, at)
	}
	sel, err := v.getting(ctx, at)
	if err != nil {
		return nil, err
	}
	return v.seen(s, f, sel)
}

// rowAt returns the current row of a fact, out of memory or from the place given; nil
// where it is in neither.
func (v *View) rowAt(s space, p *fact.Place) (*fact.Fact, error) {
	if f := v.hotFact(s, p.ID); f != nil {
		return f, nil
	}
	b, err := get(v.snap, s.row(&fact.Fact{
		ID: p.ID, Subject: p.Subject, Predicate: p.Predicate, Status: p.Status, ValidFrom: p.ValidFrom, ValidUntil: p.ValidUntil,
	}))
	if b == nil || err != nil {
		return nil, err
	}
	f, err := entry.DecodeFact(b)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "fact %s cannot be read: %v", p.ID, err)
	}
	v.keepFact(s, &f)
	return &f, nil
}

// getting selects what a read of one fact sees.
func (v *View) getting(ctx context.Context, at fact.At) (*selector, error) {
	sel := &selector{q: &fact.Query{At: at}, past: at.Past()}
	if !sel.past {
		return sel, nil
	}
	return sel, v.pin(ctx, sel)
}

// topmost returns a fact as the nearest layer that has it shows it; nil where none
// does. there tells whether any has a row of it at all.
func (v *View) topmost(sheets []sheet, id fact.ID) (f *fact.Fact, there bool, err error) {
	for i := range sheets {
		s, sel := sheets[i].space, sheets[i].sel
		now, err := readFact(v.snap, s, id)
		if err != nil {
			return nil, there, err
		}
		if now == nil {
			if lost, err := v.lost(sheets[i:i+1], id); lost || err != nil {
				return nil, there, err
			}
			continue
		}
		there = true
		if f, err := v.seen(s, now, sel); f != nil || err != nil {
			return f, there, err
		}
	}
	return nil, there, nil
}

// recentOf reads the newest events of one layer backwards, from a tx on. It tells
// how many asserts it looked at.
func (v *View) recentOf(ctx context.Context, sheets []sheet, i int, last uint64, look, room int) (list []fact.Fact, looked int, err error) {
	s := sheets[i].space
	it, err := openIter(v.snap, s.events(0), s.events(last+1))
	if err != nil {
		return nil, 0, err
	}
	defer it.Close()
	seen := make(map[fact.ID]bool)
	events := look * eventsPerLook
	for ok := it.Last(); ok && looked < look && events > 0 && len(list) < room; ok = it.Prev() {
		events--
		if err := ctx.Err(); err != nil {
			return nil, looked, err
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return nil, looked, storageError("read an event", err)
		}
		e, err := decodeEvent(b)
		if err != nil {
			return nil, looked, err
		}
		if e.op != fact.OpAssert || seen[e.id] {
			continue
		}
		seen[e.id] = true
		f, there, err := v.topmost(sheets[:i+1], e.id)
		if err != nil {
			return nil, looked, err
		}
		if !there {
			continue // it has been deleted since
		}
		looked++
		if f != nil && sheets[i].sel.accepts(f) {
			list = append(list, *f)
		}
	}
	return list, looked, it.Error()
}
