package fsm

import (
	"context"

	"abagraph/fact"
)

// maxEventTxs bounds how many transactions one page of events looks at, so that
// a reader who may see few of them still gets on.
const maxEventTxs = 4096

// maxEventBytes is the weight at which a page of events ends, after the event
// that reaches it.
const maxEventBytes = 1 << 20

// Events replays what happened after a tx, every tx as it was (C-33).
func (v *View) Events(ctx context.Context, q *fact.EventQuery) (*fact.EventPage, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = fact.DefaultLimit
	}
	page := &fact.EventPage{Through: q.After, Skip: q.Skip}
	last := min(v.state.Tx, q.After+maxEventTxs)
	told := &telling{page: page, limit: limit}
	if !q.Scope.All {
		return page, v.tenantEvents(ctx, q, last, told)
	}
	for tx := q.After + 1; tx <= last && !told.full(); tx++ {
		rec, err := readTx(v.snap, tx)
		if err != nil {
			return nil, err
		}
		if err := v.txEvents(ctx, space{rec.Tenant, q.Scope.Branch}, tx, rec.RecordedAt, told); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// telling is a page of events that is being filled.
type telling struct {
	page   *fact.EventPage
	limit  int
	weight int
}

func (t *telling) add(e fact.Event) {
	t.page.Events = append(t.page.Events, e)
	t.weight += e.Weight()
}

func (t *telling) full() bool { return len(t.page.Events) >= t.limit || t.heavy() }

func (t *telling) heavy() bool { return t.weight >= maxEventBytes }

// passed notes that a tx was told to its end.
func (t *telling) passed(tx uint64) { t.page.Through, t.page.Skip = tx, 0 }

// tenantEvents reads one tenant's events without looking at anyone else's.
func (v *View) tenantEvents(ctx context.Context, q *fact.EventQuery, last uint64, told *telling) error {
	s := space{q.Scope.Tenant, q.Scope.Branch}
	page := told.page
	for !told.full() && page.Through < last {
		tx, err := v.nextEventTx(s, page.Through+1, last)
		if err != nil {
			return err
		}
		if tx == 0 {
			told.passed(last)
			return nil
		}
		at, err := v.RecordTime(ctx, tx)
		if err != nil {
			return err
		}
		if tx > page.Through+1 {
			told.passed(tx - 1)
		}
		if err := v.txEvents(ctx, s, tx, at, told); err != nil {
			return err
		}
	}
	return nil
}

// nextEventTx returns the first tx in [from, last] with events of a tenant; 0
// where there is none.
func (v *View) nextEventTx(s space, from, last uint64) (uint64, error) {
	it, err := openIter(v.snap, s.events(from), s.events(last+1))
	if err != nil {
		return 0, err
	}
	defer it.Close()
	if !it.First() {
		return 0, it.Error()
	}
	return eventTx(it.Key()), nil
}

// txEvents adds the events of one tx, behind those that were told already, until
// the page is heavy.
func (v *View) txEvents(ctx context.Context, s space, tx uint64, at fact.Instant, told *telling) error {
	prefix := s.events(tx)
	lower := appendUint(s.events(tx), told.page.Skip)
	it, err := openIter(v.snap, lower, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if told.heavy() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read an event", err)
		}
		e, err := decodeEvent(b)
		if err != nil {
			return err
		}
		if err := v.tell(s, &e, tx, at, told); err != nil {
			return err
		}
		told.page.Skip = eventPlace(it.Key()) + 1
	}
	if err := it.Error(); err != nil {
		return storageError("read the events", err)
	}
	told.passed(tx)
	return nil
}

// tell adds an event as it was. Of a fact that has expired since, what is left to
// tell is what it did to others: each of them is told as a supersede, so that no
// follower keeps one as it was before.
func (v *View) tell(s space, e *event, tx uint64, at fact.Instant, told *telling) error {
	if e.expired != nil {
		told.add(fact.Event{Op: e.op, Tx: tx, Fact: *e.expired})
		return nil
	}
	f, err := v.factAt(s, e.id, tx, at)
	if err != nil {
		return err
	}
	var others []fact.Fact
	for _, id := range e.others {
		o, err := v.factAt(s, id, tx, at)
		if err != nil {
			return err
		}
		if o != nil {
			others = append(others, *o)
		}
	}
	if f != nil {
		told.add(fact.Event{Op: e.op, Tx: tx, Fact: *f, Superseded: others})
		return nil
	}
	for i := range others {
		told.add(fact.Event{Op: fact.OpSupersede, Tx: tx, Fact: others[i]})
	}
	return nil
}

// factAt returns a fact as it was at a tx; nil where it is gone.
func (v *View) factAt(s space, id fact.ID, tx uint64, at fact.Instant) (*fact.Fact, error) {
	f, err := readFact(v.snap, s, id)
	if err != nil || f == nil {
		return nil, err
	}
	return versionAt(v.snap, s, f, tx, at)
}
