package fsm

import (
	"encoding/binary"
	"slices"

	"abagraph/fact"
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
