package fsm

import (
	"slices"

	"abagraph/fact"
)

// This file writes what a call has changed into its batch. It goes through the
// rows once for each family of keys, since the memtable takes keys that lie near
// each other faster than keys from all over the store; and fastest, without a
// search, one that comes right after the last: so what lies in sequence is written
// in its order, and nothing in between.

// flush writes every change of the call into its batch.
func (l *ledger) flush() error {
	rows, err := l.moved()
	if err != nil {
		return err
	}
	fresh, moved := parted(rows)
	for _, step := range [...]struct {
		rows  []*row
		write func(*row) error
	}{
		{rows, l.flushRow},
		{fresh, l.flushID}, {moved, l.flushID}, // new ids ascend
		{moved, l.leavePredicate}, {backwards(moved), l.joinPredicate}, {backwards(fresh), l.joinPredicate}, // the newest tx is first
		{rows, l.flushObject}, {moved, l.flushVersions}, {fresh, l.flushVersions}, {rows, l.flushDue},
	} {
		for _, r := range step.rows {
			if err := step.write(r); err != nil {
				return err
			}
		}
	}
	if err := l.flushEvents(); err != nil {
		return err
	}
	if err := l.flushAudits(); err != nil {
		return err
	}
	if err := l.flushVectors(); err != nil {
		return err
	}
	if err := l.flushEmptied(); err != nil {
		return err
	}
	if err := l.flushOutcomes(); err != nil {
		return err
	}
	for _, memo := range l.spaces { // last: everything before counts in them
		if err := l.flushSpace(memo); err != nil {
			return err
		}
	}
	return l.flushRegistry()
}

// moved returns the rows that are not what the store has, and counts them out
// and in.
func (l *ledger) moved() ([]*row, error) {
	rows := make([]*row, 0, len(l.order))
	for _, r := range l.order {
		if done, err := l.flushInherited(r); done || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if r.gone && r.orig == nil || !r.gone && r.orig != nil && r.f.Tx == r.orig.Tx {
			continue // it came and went, or its change was undone
		}
		memo, err := l.space(r.space)
		if err != nil {
			return nil, err
		}
		l.policy = l.policy || fact.IsPolicy(r.f.Subject, r.f.Predicate)
		if r.orig != nil {
			if err := l.tally(memo, r.orig, -1); err != nil {
				return nil, err
			}
		}
		if !r.gone {
			if err := l.tally(memo, &r.f, 1); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// parted tells the rows that this call made from those that the store had, each in
// their order.
func parted(rows []*row) (fresh, moved []*row) {
	for _, r := range rows {
		if r.orig == nil {
			fresh = append(fresh, r)
		} else {
			moved = append(moved, r)
		}
	}
	return fresh, moved
}

func backwards(rows []*row) []*row {
	turned := slices.Clone(rows)
	slices.Reverse(turned)
	return turned
}

// key begins a key in the call's own buffer: it is good until the next one.
func (l *ledger) key(s space, family byte) []byte {
	return s.appendPrefix(l.buf[:0], family)
}

func (l *ledger) set(k, value []byte) error {
	l.buf = k
	return l.batch.Set(k, value, nil)
}

func (l *ledger) unset(k []byte) error {
	l.buf = k
	return l.batch.Delete(k, nil)
}

// unsetOnce removes a key that is never written again before it is removed, as
// those of rows and lists are: the two vanish together where they meet.
func (l *ledger) unsetOnce(k []byte) error {
	l.buf = k
	return l.batch.SingleDelete(k, nil)
}

// flushRow moves one row from where it lay to where it belongs, with what marks
// its subject and its statement. A statement stays until its row is gone.
func (l *ledger) flushRow(r *row) error {
	s, f := r.space, &r.f
	if r.orig != nil {
		if err := l.unsetOnce(appendRow(l.key(s, famTimeline), r.orig)); err != nil {
			return err
		}
	}
	if r.gone {
		return l.unset(appendStatement(l.key(s, famTimeline), f, r.object()))
	}
	if err := l.set(appendRow(l.key(s, famTimeline), f), l.encoded(r)); err != nil {
		return err
	}
	if r.orig != nil {
		return nil
	}
	if err := l.set(appendStatement(l.key(s, famTimeline), f, r.object()), nil); err != nil {
		return err
	}
	return l.flushMarker(s, f.Subject)
}

// flushMarker marks that a subject exists.
func (l *ledger) flushMarker(s space, subject string) error {
	exists, err := l.subjectExists(s, subject)
	if err != nil || exists {
		return err
	}
	memo, err := l.space(s)
	if err != nil {
		return err
	}
	memo.subjects[subject] = true
	memo.counters.Entities++
	return l.set(append(appendString(l.key(s, famTimeline), subject), classMarker), nil)
}

// flushID keeps where the row of an id lies: the end of its key.
func (l *ledger) flushID(r *row) error {
	s := r.space
	if r.gone {
		return l.unset(append(l.key(s, famID), r.f.ID[:]...))
	}
	l.tail = appendRow(l.tail[:0], &r.f)
	return l.set(append(l.key(s, famID), r.f.ID[:]...), l.tail)
}

func (l *ledger) leavePredicate(r *row) error {
	return l.unsetOnce(appendByPredicate(l.key(r.space, famByPred), r.orig))
}

func (l *ledger) joinPredicate(r *row) error {
	if r.gone {
		return nil
	}
	return l.set(appendByPredicate(l.key(r.space, famByPred), &r.f), nil)
}

func (l *ledger) flushObject(r *row) error {
	if r.orig != nil {
		if err := l.unsetOnce(appendByObject(l.key(r.space, famByObject), r.orig, r.object())); err != nil {
			return err
		}
	}
	if r.gone {
		return nil
	}
	return l.set(appendByObject(l.key(r.space, famByObject), &r.f, r.object()), nil)
}

// flushVersions keeps the versions that were replaced: on the axis of record
// time, and on that of known time where the two differ (C-22, C-28). Those that
// the store has stay; what is gone has none.
func (l *ledger) flushVersions(r *row) error {
	if r.gone {
		return nil
	}
	for i := r.own(); i < len(r.past); i++ {
		f, end := r.past[i], r.ends[i]
		l.tail = appendPast(l.tail[:0], f, end)
		k := appendVersion(l.key(r.space, famVersion), f, axisRecorded, f.VersionAt, end.at+1)
		if err := l.set(k, l.tail); err != nil {
			return err
		}
		if f.VersionKnownAt == f.VersionAt && end.known == end.at {
			continue
		}
		k = appendVersion(l.key(r.space, famVersion), f, axisKnown, f.VersionKnownAt, end.known+1)
		if err := l.set(k, l.tail); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) flushDue(r *row) error {
	if r.orig != nil {
		if at, due := dueAt(r.orig); due {
			if err := l.unset(r.space.due(at, r.orig.ID)); err != nil {
				return err
			}
		}
	}
	if at, due := dueAt(&r.f); due && !r.gone {
		return l.set(r.space.due(at, r.f.ID), nil)
	}
	return nil
}

// dueAt returns when the sweep has something to do with a fact: delete it, if it
// is transient with an end, or make its close take effect.
func dueAt(f *fact.Fact) (fact.Instant, bool) {
	if f.Pending || f.Transient && f.StatedUntil != fact.Forever {
		return f.ValidUntil, true
	}
	return 0, false
}

func (l *ledger) flushEvents() error {
	for i := range l.events {
		e := &l.events[i]
		if e.op == 0 || e.row.purged {
			continue // purged later in the same call
		}
		key := appendUint(appendUint(l.key(e.space.told(), famEvent), e.tx), uint64(e.n))
		bytes := e.bytes
		if bytes == nil {
			l.tail = appendEvent(l.tail[:0], e.effect)
			bytes = l.tail
		}
		if err := l.set(key, bytes); err != nil {
			return err
		}
		if e.op != fact.OpExpire && !e.row.gone {
			continue
		}
		place := append(e.space.expiries(e.row.f.Subject), key[len(key)-16:]...)
		if err := l.batch.Set(place, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
