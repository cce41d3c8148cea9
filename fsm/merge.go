package fsm

import (
	"bytes"
	"errors"

	"abagraph/fact"
)

// merge reads several ranges of an ordered index as one: newest tx first, then
// id; or, forwards, oldest tx first. Each fact lies in just one range of a
// prefix, that of its status.
type merge struct {
	v       *View
	iters   []iterator
	live    []bool
	forward bool
	at      int // the iterator that gave the last entry; -1 = none yet
}

func newMerge(v *View, prefixes [][]byte, statuses fact.StatusSet, forward bool, after uint64) (*merge, error) {
	m := &merge{v: v, forward: forward, at: -1}
	for _, prefix := range prefixes {
		for status := fact.Active; status <= fact.Retracted; status++ {
			if !statuses.Has(status) {
				continue
			}
			lower := append(bytes.Clone(prefix), byte(status))
			upper := successor(lower)
			if forward {
				// Transactions are stored inverted: those after a tx lie before it.
				upper = appendUintDown(bytes.Clone(lower), after)
			}
			it, err := v.over(lower, upper)
			if err != nil {
				return nil, errors.Join(err, m.close())
			}
			if !m.first(it) && it.Error() == nil {
				v.giveBack(it) // most things have rows of one status only: one iterator serves all ranges
				continue
			}
			m.iters = append(m.iters, it)
			m.live = append(m.live, it.Valid())
		}
	}
	return m, nil
}

func (m *merge) first(it iterator) bool {
	if m.forward {
		return it.Last()
	}
	return it.First()
}

func (m *merge) step(it iterator) bool {
	if m.forward {
		return it.Prev()
	}
	return it.Next()
}

// next moves to the next entry. Within one tx a forward merge gives the ids
// backwards; collectors sort each tx.
func (m *merge) next() (tx uint64, id fact.ID, ok bool, err error) {
	if m.at >= 0 {
		m.live[m.at] = m.step(m.iters[m.at])
	}
	m.at = -1
	var best []byte
	for i, it := range m.iters {
		if !m.live[i] {
			if err := it.Error(); err != nil {
				return 0, id, false, storageError("read an index", err)
			}
			continue
		}
		k := it.Key()
		tail := k[len(k)-24:]
		if best == nil || m.before(tail, best) {
			best, m.at = tail, i
		}
	}
	if m.at < 0 {
		return 0, id, false, nil
	}
	tx, id = orderOf(best)
	return tx, id, true, nil
}

func (m *merge) before(a, b []byte) bool {
	c := bytes.Compare(a, b)
	if m.forward {
		return c > 0
	}
	return c < 0
}

func (m *merge) close() error {
	var err error
	for _, it := range m.iters {
		err = errors.Join(err, it.Error())
		m.v.giveBack(it)
	}
	m.iters, m.live = nil, nil
	return err
}
