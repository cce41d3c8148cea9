package fsm

import (
	"context"
	"slices"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
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
		list, err := v.recentOf(ctx, space{tenant, q.Scope.Branch}, sel, look)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
	return all[:min(len(all), q.Limit)], nil
}

// Get returns one fact as a read sees it, of whatever status; nil where it sees
// none.
func (v *View) Get(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Fact, error) {
	s, f, err := v.locate(scope, id)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sel := &selector{q: &fact.Query{At: at}, past: at.Past()}
	if sel.past {
		if err := v.pin(ctx, sel); err != nil {
			return nil, err
		}
	}
	return v.seen(s, f, sel)
}

// recentOf reads one tenant's newest events backwards.
func (v *View) recentOf(ctx context.Context, s space, sel *selector, look int) ([]fact.Fact, error) {
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: s.events(0), UpperBound: s.events(sel.tx + 1)})
	if err != nil {
		return nil, storageError("open an iterator", err)
	}
	defer it.Close()
	var list []fact.Fact
	seen := make(map[fact.ID]bool)
	events := look * eventsPerLook
	for ok := it.Last(); ok && look > 0 && events > 0 && len(list) < sel.q.Limit; ok = it.Prev() {
		events--
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return nil, storageError("read an event", err)
		}
		e, err := decodeEvent(b)
		if err != nil {
			return nil, err
		}
		if e.op != fact.OpAssert || seen[e.id] {
			continue
		}
		seen[e.id] = true
		now, err := readFact(v.snap, s, e.id)
		if err != nil {
			return nil, err
		}
		if now == nil {
			continue // it has been deleted since
		}
		look--
		f, err := v.seen(s, now, sel)
		if err != nil {
			return nil, err
		}
		if f != nil && sel.accepts(f) {
			list = append(list, *f)
		}
	}
	return list, it.Error()
}
