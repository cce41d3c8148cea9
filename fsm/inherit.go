package fsm

import (
	"encoding/binary"
	"math"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// This file is what a write on a branch sees of the branch's parents (C-55). A
// branch's own rows lie in its own space. What it has not changed is its
// parent's, as recorded at the base tx; a change makes a row of its own, with the
// same id, and leaves the parent's alone. So the rest of the write path judges
// rows without asking whose they are.

// forkKey names a row of a branch.
type forkKey struct {
	space space
	id    fact.ID
}

// layer is a branch as another one sees it: as recorded at a tx, whose record
// time is at.
type layer struct {
	space space
	tx    uint64
	at    fact.Instant
}

// lineage returns what a branch inherits from, the nearest first. It ends where
// nothing was recorded yet.
func lineage(s space, record func(space) (*fact.Branch, error)) ([]layer, error) {
	var list []layer
	next := layer{space: s, tx: math.MaxUint64, at: fact.Forever}
	for next.space.branch != fact.MainBranch {
		rec, err := record(next.space)
		if err != nil {
			return nil, err
		}
		if rec == nil {
			return nil, noBranch(next.space.branch)
		}
		next.space.branch = rec.Parent
		if rec.BaseTx < next.tx {
			next.tx, next.at = rec.BaseTx, rec.BaseAt
		}
		if next.tx == 0 {
			break
		}
		list = append(list, next)
	}
	return list, nil
}

func noBranch(name string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no branch: " + name, Field: "branch"}
}

// changed returns the row of an id that this call has changed, or nil.
func (l *ledger) changed(s space, id fact.ID) *row {
	if s.branch == fact.MainBranch {
		return l.rows[id]
	}
	return l.forks[forkKey{s, id}]
}

// untouched reports whether an inherited row is the parent's still, because the
// request that changed it was refused.
func (r *row) untouched() bool { return r.inherited && len(r.past) == 0 && !r.gone }

// own is where the branch's own versions begin in past: the first one of an
// inherited row is the parent's, where it lies already.
func (r *row) own() int {
	if r.inherited {
		return 1
	}
	return 0
}

// forkTx is the tx that made an inherited row the branch's own; 0 of another row.
func (r *row) forkTx() uint64 {
	if r.inherited && len(r.ends) > 0 {
		return r.ends[0].tx
	}
	return r.forked
}

// readFork returns since which tx a branch has, or had, a row of its own for an
// inherited fact; 0 where it has none.
func readFork(r pebble.Reader, s space, id fact.ID) (uint64, error) {
	b, err := get(r, s.forked(id))
	if err != nil || b == nil {
		return 0, err
	}
	return decodeFork(b)
}

func decodeFork(b []byte) (uint64, error) {
	tx, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, fact.Errorf(fact.StorageCorruption, "the note of a forked fact cannot be read")
	}
	return tx, nil
}

// flushInherited notes that a branch has a row of its own for an inherited fact.
// The note outlives the row: where the sweep deletes it, the fact is gone from
// the branch, and the parent's must not show through. It answers true where
// there is nothing else to write.
func (l *ledger) flushInherited(r *row) (done bool, err error) {
	if !r.inherited {
		return false, nil
	}
	if r.untouched() {
		return true, nil
	}
	if r.purged {
		return false, nil
	}
	return false, l.batch.Set(r.space.forked(r.f.ID), binary.AppendUvarint(nil, r.forkTx()), nil)
}

// inherit visits the facts that a branch has of its parents, layer by layer:
// read gives those of one layer. What a nearer layer has a row of is left out.
func (l *ledger) inherit(s space, read func(a layer, take func(*fact.Fact) error) error, take func(*row) error) error {
	layers, err := lineage(s, l.branch)
	if err != nil {
		return err
	}
	nearer := []layer{{space: s, tx: math.MaxUint64}}
	for _, a := range layers {
		err := read(a, func(f *fact.Fact) error {
			for _, n := range nearer {
				if hidden, err := l.hides(n, f.ID); hidden || err != nil {
					return err
				}
			}
			return take(&row{space: s, f: *f, inherited: true})
		})
		if err != nil {
			return err
		}
		nearer = append(nearer, a)
	}
	return nil
}

// hides reports whether a layer has, or had and lost, a row of its own for an
// inherited fact.
func (l *ledger) hides(n layer, id fact.ID) (bool, error) {
	r := l.changed(n.space, id)
	top := n.tx == math.MaxUint64
	if r != nil && top {
		return true, nil
	}
	since := uint64(0)
	if r != nil {
		since = r.forkTx()
	}
	if since == 0 {
		var err error
		if since, err = readFork(l.base, n.space, id); err != nil || since == 0 {
			return false, err
		}
	}
	return since <= n.tx, nil
}

// inheritSpan adds the inherited rows, active or superseded, that overlap
// [from, until).
func (l *ledger) inheritSpan(t *line, found []*row, from, until fact.Instant) ([]*row, error) {
	statuses := fact.StatusSet(0).With(fact.Active).With(fact.Superseded)
	return l.inheritRows(t, found, statuses, from, until)
}

// inheritCandidates adds the inherited candidates.
func (l *ledger) inheritCandidates(t *line, found []*row) ([]*row, error) {
	return l.inheritRows(t, found, fact.StatusSet(0).With(fact.Candidate), fact.NoInstant, fact.Forever)
}

func (l *ledger) inheritRows(t *line, found []*row, statuses fact.StatusSet, from, until fact.Instant) ([]*row, error) {
	weight := 0
	read := func(a layer, take func(*fact.Fact) error) error {
		return l.lineAt(a, t.key, statuses, from, until, take)
	}
	err := l.inherit(t.key.space, read, func(r *row) error {
		if weight += r.f.Weight(); weight > fact.MaxTxBytes {
			return errTooHeavy
		}
		found = append(found, r)
		return nil
	})
	return found, err
}

// lineAt visits the facts of a timeline as a layer saw them: those of some
// statuses that overlap [from, until).
func (l *ledger) lineAt(a layer, k lineKey, statuses fact.StatusSet, from, until fact.Instant, visit func(*fact.Fact) error) error {
	k.space = a.space
	t := l.line(k)
	pass := func(f *fact.Fact) error {
		if !statuses.Has(f.Status) || f.ValidFrom >= until || f.ValidUntil <= from || f.ValidFrom >= f.ValidUntil {
			return nil
		}
		return visit(f)
	}
	for _, r := range t.changed {
		f, err := l.factAt(a.space, r.f.ID, a.tx)
		if err == nil && f != nil {
			err = pass(f)
		}
		if err != nil {
			return err
		}
	}
	for status := fact.Active; status <= fact.Retracted; status++ {
		if !statuses.Has(status) {
			continue
		}
		err := l.scan(t, status, from, until, func(f *fact.Fact) error {
			if f.Tx > a.tx || l.changed(a.space, f.ID) != nil {
				return nil
			}
			return pass(f)
		})
		if err != nil {
			return err
		}
	}
	return l.replacedAt(a, k, pass)
}

// replacedAt visits the versions of a timeline that a layer saw and that were
// replaced since, unless this call has changed the fact again.
func (l *ledger) replacedAt(a layer, k lineKey, visit func(*fact.Fact) error) error {
	return scanVersions(l.base, a.space.versions(k.subject, k.predicate, axisRecorded), a.at, func(_ byte, v *version) error {
		if v.tx > a.tx || v.end.tx <= a.tx || l.changed(a.space, v.id) != nil {
			return nil
		}
		now, err := readFact(l.base, a.space, v.id)
		if err != nil || now == nil {
			return err
		}
		f := v.of(now)
		return visit(&f)
	})
}

// inheritStatements adds the inherited pieces of the statements with an object
// and a source; where from is given, of those that were stated to start there.
func (l *ledger) inheritStatements(t *line, found []*row, object fact.Object, source *string, from fact.Instant) ([]*row, error) {
	read := func(a layer, take func(*fact.Fact) error) error {
		prefix := a.space.statements(t.key.subject, t.key.predicate, object, source)
		if from.Given() {
			prefix = appendTime(prefix, from)
		}
		ids, err := l.idsUnder(prefix)
		if err != nil {
			return err
		}
		for _, r := range l.line(lineKey{a.space, t.key.subject, t.key.predicate}).changed {
			if r.orig == nil && (!from.Given() || r.f.StatedFrom == from) {
				ids = append(ids, r.f.ID)
			}
		}
		for _, id := range ids {
			f, err := l.factAt(a.space, id, a.tx)
			if err == nil && f != nil {
				err = take(f)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := l.inherit(t.key.space, read, func(r *row) error {
		found = append(found, r)
		return nil
	})
	return found, err
}

// inheritFact returns the inherited row of an id, or nil.
func (l *ledger) inheritFact(s space, id fact.ID) (*row, error) {
	var found *row
	read := func(a layer, take func(*fact.Fact) error) error {
		f, err := l.factAt(a.space, id, a.tx)
		if err != nil || f == nil || found != nil {
			return err
		}
		return take(f)
	}
	err := l.inherit(s, read, func(r *row) error {
		found = r
		return nil
	})
	return found, err
}
