package fsm

import (
	"math"
	"sync"

	"abagraph/fact"
)

// This file is what a read on a branch sees (C-55): a pile of layers, the nearest
// first. The top one is the branch's own rows, read as any other; below it lie its
// parents, each as it was recorded at the tx from which the branch sees it. Of one
// fact the nearest layer that has it at the point of record time that is read
// tells. A read of main is a pile of one.

// sheet is one layer of a pile, with the selector that a read has for it.
type sheet struct {
	space space
	sel   *selector
	tx    uint64 // the last tx of which anything is seen
	forks *forks // which of the facts of lower layers it has changed; nil = none
}

// pile returns the layers of a tenant's branch for a read; none where there is no
// such branch.
func (v *View) pile(s space, sel *selector) ([]sheet, error) {
	if s.branch == fact.MainBranch {
		return []sheet{{space: s, sel: sel, tx: math.MaxUint64}}, nil
	}
	rec, err := v.branch(s)
	if err != nil || rec == nil {
		return nil, err
	}
	sheets, err := v.layers(s, sel)
	if err == nil && dropped(rec, sel) {
		sheets = sheets[1:]
	}
	return sheets, err
}

// layers returns the layers of a branch, its own first.
func (v *View) layers(s space, sel *selector) ([]sheet, error) {
	below, err := lineage(s, v.branch)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sheets := []sheet{{space: s, sel: sel, tx: math.MaxUint64, forks: v.forksOf(s)}}
	for _, a := range below {
		next := sheet{space: a.space, sel: sel.upTo(a), tx: a.tx}
		if sel.past && !sel.known && a.tx > sel.tx {
			next.sel = sel
		}
		if a.space.branch != fact.MainBranch {
			next.forks = v.forksOf(a.space)
		}
		sheets = append(sheets, next)
	}
	return sheets, nil
}

// dropped reports whether a read comes after the branch was discarded, and sees
// nothing of what was written on it.
func dropped(rec *fact.Branch, sel *selector) bool {
	return rec.Status == fact.BranchDiscarded && (!sel.past || sel.tx >= rec.ClosedTx)
}

// upTo narrows a selector to what a layer shows: nothing that was recorded after
// its tx, later backfills included.
func (s *selector) upTo(a layer) *selector {
	n := *s
	if s.past && s.known && s.recorded < a.at {
		n.capped, n.cap, n.capAt = true, a.tx, a.at
		return &n
	}
	n.past, n.known, n.tx, n.recorded = true, false, a.tx, a.at
	return &n
}

// hidden reports whether one of the layers above has the fact.
func (v *View) hidden(above []sheet, id fact.ID) (bool, error) {
	for i := range above {
		if above[i].forks == nil {
			continue
		}
		if hides, err := v.hides(&above[i], id); hides || err != nil {
			return hides, err
		}
	}
	return false, nil
}

// hides reports whether a layer shows a version of its own of an inherited fact,
// or has lost it to the sweep.
func (v *View) hides(sh *sheet, id fact.ID) (bool, error) {
	since, err := sh.forks.since(v, sh.space, id)
	if err != nil || since == 0 || since > sh.tx {
		return false, err
	}
	f, err := readFact(v.snap, sh.space, id)
	if err != nil || f == nil {
		return f == nil && err == nil, err
	}
	own, err := v.seen(sh.space, f, sh.sel)
	return own != nil, err
}

// branch returns the record of a branch, or nil.
func (v *View) branch(s space) (*fact.Branch, error) { return readBranch(v.snap, s) }

// maxForks is how many forked facts of one branch a view remembers.
const maxForks = 4096

// forks knows of which inherited facts a branch has rows of its own: by heart,
// where they are few.
type forks struct {
	once sync.Once
	ids  map[fact.ID]uint64
	many bool
	err  error
}

// forksOf returns what the view knows of a branch's forks.
func (v *View) forksOf(s space) *forks {
	v.forksMu.Lock()
	defer v.forksMu.Unlock()
	if v.forks == nil {
		v.forks = make(map[space]*forks)
	}
	f := v.forks[s]
	if f == nil {
		f = &forks{}
		v.forks[s] = f
	}
	return f
}

// since returns from which tx on the branch has, or had, a row of its own; 0 where
// it never had.
func (f *forks) since(v *View, s space, id fact.ID) (uint64, error) {
	f.once.Do(func() { f.err = f.load(v, s) })
	if f.err != nil || !f.many {
		return f.ids[id], f.err
	}
	return readFork(v.snap, s, id)
}

func (f *forks) load(v *View, s space) error {
	f.ids = make(map[fact.ID]uint64)
	it, err := v.iter(s.prefix(famForked))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if len(f.ids) == maxForks {
			f.ids, f.many = nil, true
			break
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a fork", err)
		}
		if f.ids[idAtEnd(it.Key())], err = decodeFork(b); err != nil {
			return err
		}
	}
	return it.Error()
}
