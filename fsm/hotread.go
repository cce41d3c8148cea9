package fsm

import (
	"slices"

	"abagraph/fact"
)

// hot answers what holds at an instant, as far as it is in memory. It answers false
// where the read is of another kind, or there are too many rows to be kept.
//
// Of one timeline, as it is known now, the active rows come from memory, the
// superseded ones from the few buckets in which any lie. Of a whole subject the
// active rows do, and with them the past, with the versions that were replaced since;
// and every other read of a subject, or of a timeline of it, that has no rows but
// active ones.
func (r *reading) hot() (bool, error) {
	sel := r.sel
	if !sel.stabs() {
		return false, nil
	}
	active := fact.StatusSet(0).With(fact.Active)
	switch line := sel.q.Predicate != ""; {
	case line && !sel.past && sel.statuses&^active.With(fact.Superseded) == 0:
		return r.hotTimeline()
	case !line && sel.statuses&^active == 0:
		return r.hotSubject(false)
	}
	return r.hotSubject(true)
}

// kept returns what is kept of a timeline or a whole subject, or learns it; nil where
// that is too long.
func (r *reading) kept(k lineKey) (*hotLine, error) {
	e := r.v.hotLine(k)
	switch {
	case e != nil && e.long:
		return nil, nil
	case e == nil || !e.bucketed:
		return r.v.warm(k, e)
	}
	return e, nil
}

func (r *reading) hotTimeline() (bool, error) {
	e, err := r.kept(lineKey{r.space, r.sel.q.Subject, r.sel.q.Predicate})
	if e == nil || err != nil {
		return false, err
	}
	if err := r.actives(e); err != nil {
		return false, err
	}
	if !r.sel.statuses.Has(fact.Superseded) {
		return true, nil
	}
	return true, r.buckets(e.buckets)
}

// hotSubject answers from the rows of a whole subject, where needed only if it has no
// others than active ones.
func (r *reading) hotSubject(alone bool) (bool, error) {
	e, err := r.kept(lineKey{space: r.space, subject: r.sel.q.Subject})
	if e == nil || err != nil || alone && !e.alone {
		return false, err
	}
	if err := r.actives(e); err != nil {
		return false, err
	}
	if r.sel.past && !e.settled {
		return true, r.versions()
	}
	return true, nil
}

// actives adds the active rows that are accepted.
func (r *reading) actives(e *hotLine) error {
	few := 0
	for i := range e.active {
		if predicate := r.sel.q.Predicate; predicate == "" || e.active[i].Predicate == predicate {
			few++
		}
	}
	r.into.expect(few)
	for i := range e.active {
		r.into.scanned++
		if r.sel.sees(&e.active[i]) && r.sel.accepts(&e.active[i]) {
			if err := r.add(&e.active[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// buckets reads the superseded rows that hold at the selector's instant.
func (r *reading) buckets(mask uint16) error {
	q, at := r.sel.q, r.sel.at
	prefix := r.space.line(q.Subject, q.Predicate, fact.Superseded)
	var it iterator
	for bucket := byte(bucketEmpty + 1); bucket <= bucketOpen; bucket++ {
		if mask&(1<<bucket) == 0 {
			continue
		}
		lower, upper := jump(nil, prefix, bucket, reach(bucket, at)), jump(nil, prefix, bucket, at+1)
		if !it.open() {
			var err error
			if it, err = openIter(r.v.snap, lower, upper); err != nil {
				return err
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
		look = v.restOf
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

// restOf finds out whether a subject has more than its active rows, and puts these in
// the order of lists.
func (v *View) restOf(k lineKey, e *hotLine) error {
	if len(e.active) == 0 {
		return nil // it is not kept
	}
	slices.SortFunc(e.active, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
	replaced := appendString(k.space.prefix(famVersion), k.subject)
	it, err := v.over(replaced, successor(replaced))
	if err != nil {
		return err
	}
	defer v.giveBack(it)
	e.settled = !it.First()
	if err := it.Error(); err != nil {
		return storageError("look for versions", err)
	}
	it.SetBounds(successor(k.space.class(k.subject, fact.Active)), successor(k.space.class(k.subject, fact.Retracted)))
	e.alone = !it.First()
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
		ok = it.SeekGE(jump(nil, prefix, bucket+1, fact.NoInstant))
	}
	return it.Error()
}
