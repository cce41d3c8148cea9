package fsm

import (
	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// hot answers what holds at an instant in one timeline, as it is known now: the
// active rows come from memory, the superseded ones from the few buckets in
// which any lie. Of a whole subject it answers active rows only, and so also the
// past, with the versions that were replaced since. It answers false where the read
// is of another kind, or there are too many rows to be kept.
func (r *reading) hot() (bool, error) {
	q, sel := r.sel.q, r.sel
	served := fact.StatusSet(0).With(fact.Active)
	if q.Predicate != "" {
		served = served.With(fact.Superseded)
	}
	if sel.past && q.Predicate != "" || !sel.stabs() || sel.statuses&^served != 0 {
		return false, nil
	}
	k := lineKey{r.space, q.Subject, q.Predicate}
	e := r.v.hotLine(k)
	if e != nil && e.long {
		return false, nil
	}
	if e == nil || !e.bucketed {
		var err error
		if e, err = r.v.warm(k, e); e == nil || err != nil {
			return false, err
		}
	}
	if sel.statuses.Has(fact.Active) {
		for i := range e.active {
			r.into.scanned++
			if sel.sees(&e.active[i]) && sel.accepts(&e.active[i]) {
				if err := r.add(&e.active[i]); err != nil {
					return false, err
				}
			}
		}
	}
	if sel.past && !e.settled {
		return true, r.versions()
	}
	if !sel.statuses.Has(fact.Superseded) {
		return true, nil
	}
	return true, r.buckets(e.buckets)
}

// buckets reads the superseded rows that hold at the selector's instant.
func (r *reading) buckets(mask uint16) error {
	q, at := r.sel.q, r.sel.at
	prefix := r.space.line(q.Subject, q.Predicate, fact.Superseded)
	var it *pebble.Iterator
	for bucket := byte(bucketEmpty + 1); bucket <= bucketOpen; bucket++ {
		if mask&(1<<bucket) == 0 {
			continue
		}
		lower, upper := jump(prefix, bucket, reach(bucket, at)), jump(prefix, bucket, at+1)
		if it == nil {
			var err error
			if it, err = r.v.snap.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper}); err != nil {
				return storageError("open an iterator", err)
			}
			defer it.Close()
		} else {
			it.SetBounds(lower, upper)
		}
		for ok := it.First(); ok; ok = it.Next() {
			if err := r.step(); err != nil {
				return err
			}
			if k := it.Key(); timeAt(k[len(k)-rowTail+9:]) <= at {
				continue
			}
			f, err := rowValue(it)
			if err != nil {
				return err
			}
			if r.sel.accepts(&f) {
				if err := r.add(&f); err != nil {
					return err
				}
			}
		}
		if err := it.Error(); err != nil {
			return storageError("scan a timeline", err)
		}
	}
	return nil
}

// hotLine returns what the cache knows of a timeline, if it knows it for the
// state that this view sees.
func (v *View) hotLine(k lineKey) *hotLine {
	v.m.mu.RLock()
	defer v.m.mu.RUnlock()
	if v.m.state.Index != v.state.Index {
		return nil
	}
	e, _ := v.m.hot.get(k)
	return e
}

// warm learns of a timeline what the cache lacks, and keeps it if the machine
// has not moved on. It answers nil where the timeline is too long to be kept.
func (v *View) warm(k lineKey, known *hotLine) (*hotLine, error) {
	e := &hotLine{closedBy: fact.Forever, bucketed: true}
	if known != nil {
		e.active, e.closedBy, e.certain = known.active, known.closedBy, known.certain
	} else if err := v.activeRows(k, e); err != nil {
		return nil, err
	}
	look := v.supersededBuckets
	if k.predicate == "" {
		look = v.replacedVersions
	}
	if err := look(k, e); err != nil {
		return nil, err
	}
	v.m.mu.RLock()
	defer v.m.mu.RUnlock()
	if v.m.state.Index == v.state.Index && (e.long || len(e.active) > 0) {
		v.m.hot.put(k, e)
	}
	if e.long {
		return nil, nil
	}
	return e, nil
}

func (v *View) activeRows(k lineKey, e *hotLine) error {
	prefix := k.space.class(k.subject, fact.Active)
	if k.predicate != "" {
		prefix = k.space.line(k.subject, k.predicate, fact.Active)
	}
	it, err := v.over(prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer v.giveBack(it)
	for ok := it.First(); ok && len(e.active) <= maxHotRows; ok = it.Next() {
		f, err := rowValue(it)
		if err != nil {
			return err
		}
		e.active = append(e.active, f)
	}
	if len(e.active) > maxHotRows {
		e.active, e.long = nil, true
	}
	return it.Error()
}

// replacedVersions finds out whether a subject has any.
func (v *View) replacedVersions(k lineKey, e *hotLine) error {
	prefix := appendString(k.space.prefix(famVersion), k.subject)
	if len(e.active) == 0 {
		return nil // it is not kept
	}
	it, err := v.over(prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer v.giveBack(it)
	e.settled = !it.First()
	return it.Error()
}

// supersededBuckets finds out in which buckets a timeline has superseded rows.
func (v *View) supersededBuckets(k lineKey, e *hotLine) error {
	prefix := k.space.line(k.subject, k.predicate, fact.Superseded)
	it, err := v.over(prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer v.giveBack(it)
	for ok := it.First(); ok; {
		bucket := it.Key()[len(prefix)]
		e.buckets |= 1 << bucket
		ok = it.SeekGE(jump(prefix, bucket+1, fact.NoInstant))
	}
	return it.Error()
}
