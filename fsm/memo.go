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
	kept       map[string]int64 // what the last calls knew of the predicates
}

type predicateMemo struct {
	name         string
	rows, before int64
}

func (l *ledger) space(s space) (*spaceMemo, error) {
	if memo := l.known[s]; memo != nil {
		return memo, nil
	}
	k := l.m.kept.spaces[s]
	if k == nil {
		c, err := readCounters(l.base, s)
		if err != nil {
			return nil, err
		}
		there, err := has(l.base, dataTenantKey(s.tenant))
		if err != nil {
			return nil, err
		}
		k = &keptSpace{there: there, counters: c}
	}
	memo := &spaceMemo{
		space: s, isNew: !k.there, counters: k.counters, kept: k.predicates,
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
	n, known := memo.kept[name]
	if !known {
		v, err := get(l.base, memo.space.predicate(name))
		if err != nil {
			return nil, err
		}
		rows, _ := binary.Uvarint(v)
		n = int64(rows)
	}
	p := &predicateMemo{name: name, rows: n, before: n}
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

// The bounds of kept: beyond them it starts anew.
const (
	maxKeptSpaces     = 256
	maxKeptPredicates = 1024
)

// kept is what the machine knows of the counters in its store, so that the next
// call need not read them. Only Apply, and what keeps it out, may touch it.
type kept struct {
	spaces map[space]*keptSpace
}

type keptSpace struct {
	there      bool // the tenant is listed as one that holds data
	counters   counters
	predicates map[string]int64
}

// keep takes over the counters of a call that was committed.
func (k *kept) keep(l *ledger) {
	if k.spaces == nil || len(k.spaces) > maxKeptSpaces {
		k.spaces = make(map[space]*keptSpace)
	}
	for _, memo := range l.spaces {
		known := memo.kept
		if known == nil || len(known) > maxKeptPredicates {
			known = make(map[string]int64)
		}
		for _, p := range memo.order {
			known[p.name] = max(p.rows, 0)
		}
		k.spaces[memo.space] = &keptSpace{there: !memo.isNew || memo.space.branch != "", counters: memo.counters, predicates: known}
	}
}
