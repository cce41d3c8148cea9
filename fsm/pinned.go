package fsm

import (
	"slices"

	"abagraph/fact"
)

// byEvents reads a page of the state at a tx in the order of transactions: what
// a tx touched is told by its events, and counts where no later tx up to the
// last one touched it again. A page costs what lies between its two ends.
func (r *reading) byEvents(last uint64) error {
	q := r.sel.q
	if q.TxGt >= last {
		return nil
	}
	it, err := openIter(r.v.snap, r.space.events(q.TxGt+1), r.space.events(last+1))
	if err != nil {
		return err
	}
	defer it.Close()
	var of uint64
	var touched []fact.ID
	for ok := it.First(); ok; ok = it.Next() {
		if tx := eventTx(it.Key()); tx != of {
			if err := r.addTouched(of, last, touched); err != nil {
				return err
			}
			if r.into.full(tx) {
				r.into.limitHit = true
				return nil
			}
			of, touched = tx, touched[:0]
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read an event", err)
		}
		e, err := decodeEvent(b)
		if err != nil {
			return err
		}
		touched = append(append(touched, e.id), e.others...)
	}
	if err := it.Error(); err != nil {
		return storageError("read the events", err)
	}
	return r.addTouched(of, last, touched)
}

// addTouched adds the facts that a tx touched last, as seen from a later one.
func (r *reading) addTouched(tx, last uint64, ids []fact.ID) error {
	slices.SortFunc(ids, func(a, b fact.ID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(ids) {
		if err := r.step(); err != nil {
			return err
		}
		if err := r.patient(); err != nil {
			return err
		}
		now, err := readFact(r.v.snap, r.space, id)
		if err != nil {
			return err
		}
		if now == nil {
			continue // deleted since
		}
		was, err := versionAt(r.v.snap, r.space, now, last, r.sel.recorded)
		if err != nil {
			return err
		}
		if was == nil || was.Tx != tx || !r.sel.accepts(was) {
			continue
		}
		if err := r.add(was); err != nil {
			return err
		}
	}
	return nil
}
