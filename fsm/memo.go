package fsm

import (
	"encoding/binary"
	"slices"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// spaceMemo is what one Apply call knows of a tenant's branch: its counters,
// which subjects exist, and how many rows its predicates have.
type spaceMemo struct {
	space      space
	isNew      bool // the store holds no data of the tenant yet
	counters   counters
	subjects   map[string]bool
	predicates map[string]*predicateMemo
	order      []*predicateMemo
}

type predicateMemo struct {
	name         string
	rows, before int64
}

func (l *ledger) space(s space) (*spaceMemo, error) {
	if memo := l.known[s]; memo != nil {
		return memo, nil
	}
	c, err := readCounters(l.base, s)
	if err != nil {
		return nil, err
	}
	there, err := has(l.base, dataTenantKey(s.tenant))
	if err != nil {
		return nil, err
	}
	memo := &spaceMemo{
		space: s, isNew: !there, counters: c,
		subjects: make(map[string]bool), predicates: make(map[string]*predicateMemo),
	}
	l.known[s] = memo
	l.spaces = append(l.spaces, memo)
	return memo, nil
}

func (l *ledger) predicateMemo(memo *spaceMemo, name string) (*predicateMemo, error) {
	if p := memo.predicates[name]; p != nil {
		return p, nil
	}
	v, err := get(l.base, memo.space.predicate(name))
	if err != nil {
		return nil, err
	}
	n, _ := binary.Uvarint(v)
	p := &predicateMemo{name: name, rows: int64(n), before: int64(n)}
	memo.predicates[name] = p
	memo.order = append(memo.order, p)
	return p, nil
}

// tally counts a row in or out.
func (l *ledger) tally(memo *spaceMemo, f *fact.Fact, by int64) error {
	memo.counters.ByStatus[f.Status] += by
	p, err := l.predicateMemo(memo, f.Predicate)
	if err != nil {
		return err
	}
	p.rows += by
	return nil
}

// flush writes every change of the call into its batch.
func (l *ledger) flush() error {
	for _, r := range l.order {
		if err := l.flushRow(r); err != nil {
			return err
		}
	}
	for _, e := range l.events {
		if e.op == 0 || e.row.purged {
			continue // purged later in the same call
		}
		key := appendUint(e.space.events(e.tx), uint64(e.n))
		if err := l.batch.Set(key, e.bytes, nil); err != nil {
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
	if err := l.flushVectors(); err != nil {
		return err
	}
	if err := l.flushEmptied(); err != nil {
		return err
	}
	for _, memo := range l.spaces {
		if err := l.flushSpace(memo); err != nil {
			return err
		}
	}
	if err := l.flushOutcomes(); err != nil {
		return err
	}
	return l.flushRegistry()
}

// flushRow moves one row from where it lay to where it belongs.
func (l *ledger) flushRow(r *row) error {
	if r.gone && r.orig == nil {
		return nil
	}
	memo, err := l.space(r.space)
	if err != nil {
		return err
	}
	b := l.batch
	if r.orig != nil {
		if !r.gone && r.f.Tx == r.orig.Tx {
			return nil // its change was undone
		}
		if err := l.tally(memo, r.orig, -1); err != nil {
			return err
		}
		if err := r.erase(b); err != nil {
			return err
		}
	}
	if r.gone {
		return nil
	}
	if err := l.tally(memo, &r.f, 1); err != nil {
		return err
	}
	for i := range r.past {
		if err := putVersion(b, r.space, &r.past[i], r.ends[i]); err != nil {
			return err
		}
	}
	return l.put(memo, r)
}

// erase removes the keys of the row as it lay in the store. Those of its past
// versions and of its statement stay, unless the row is gone.
func (r *row) erase(b *pebble.Batch) error {
	old, s := r.orig, r.space
	keys := [][]byte{s.row(old), s.all(old), s.byPredicate(old), s.byObject(old)}
	if at, due := dueAt(old); due {
		keys = append(keys, s.due(at, old.ID))
	}
	if r.gone {
		keys = append(keys, s.id(old.ID), s.statement(old))
	}
	for _, k := range keys {
		if err := b.Delete(k, nil); err != nil {
			return err
		}
	}
	return nil
}

// put writes the keys of the row as it is now.
func (l *ledger) put(memo *spaceMemo, r *row) error {
	f, s, b := &r.f, r.space, l.batch
	rowKey := s.row(f)
	if err := b.Set(rowKey, r.encoded(), nil); err != nil {
		return err
	}
	if err := b.Set(s.id(f.ID), s.tailOf(rowKey), nil); err != nil {
		return err
	}
	keys := [][]byte{s.all(f), s.byPredicate(f), s.byObject(f)}
	if at, due := dueAt(f); due {
		keys = append(keys, s.due(at, f.ID))
	}
	if r.orig == nil {
		keys = append(keys, s.statement(f))
		exists, err := l.subjectExists(s, f.Subject)
		if err != nil {
			return err
		}
		if !exists {
			keys = append(keys, s.marker(f.Subject))
			memo.subjects[f.Subject] = true
			memo.counters.Entities++
		}
	}
	for _, k := range keys {
		if err := b.Set(k, nil, nil); err != nil {
			return err
		}
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

func (l *ledger) flushSpace(memo *spaceMemo) error {
	b := l.batch
	slices.SortFunc(memo.order, func(a, b *predicateMemo) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for _, p := range memo.order {
		switch {
		case p.rows == p.before:
			continue
		case p.rows <= 0:
			memo.counters.Predicates--
			if err := b.Delete(memo.space.predicate(p.name), nil); err != nil {
				return err
			}
			continue
		case p.before == 0:
			memo.counters.Predicates++
		}
		if err := b.Set(memo.space.predicate(p.name), binary.AppendUvarint(nil, uint64(p.rows)), nil); err != nil {
			return err
		}
	}
	if memo.isNew && memo.space.branch != "" {
		if err := b.Set(dataTenantKey(memo.space.tenant), nil, nil); err != nil {
			return err
		}
	}
	return b.Set(memo.space.counters(), memo.counters.encode(), nil)
}

// putVersion keeps a version that was replaced: on the axis of record time, and
// on that of known time where the two differ (C-22, C-28).
func putVersion(b *pebble.Batch, s space, f *fact.Fact, end versionEnd) error {
	v := encodeVersion(f, end)
	if err := b.Set(s.version(f, axisRecorded, f.VersionAt, end.at+1), v, nil); err != nil {
		return err
	}
	if f.VersionKnownAt == f.VersionAt && end.known == end.at {
		return nil
	}
	return b.Set(s.version(f, axisKnown, f.VersionKnownAt, end.known+1), v, nil)
}
