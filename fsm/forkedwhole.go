package fsm

import (
	"context"
	"errors"

	"abagraph/fact"
)

func (v *version) short() *fact.Version {
	return &fact.Version{ID: v.id, Tx: v.tx, Status: v.status, ValidFrom: v.from, ValidUntil: v.until, KnownAt: v.known}
}

// eachForked is EachVersion on a branch: every fact as the branch has it, and then
// every version that it ever showed. What was written on a branch that has been
// discarded is among them, since reads of the time before still see it.
func (v *View) eachForked(ctx context.Context, s space, sel *selector, now func(*fact.Fact) bool, past func(*fact.Version) bool) error {
	sheets, err := v.layers(s, sel)
	if err != nil {
		return err
	}
	n := 0
	step := func() error {
		if n++; n%256 == 0 {
			return ctx.Err()
		}
		return nil
	}
	for i := range sheets {
		if more, err := v.eachIn(sheets, i, step, now); err != nil || !more {
			return err
		}
	}
	for i := range sheets {
		if err := v.eachReplaced(sheets, i, step, past); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
	}
	return nil
}

// eachReplaced visits the versions that a layer showed and that were replaced: by
// a later one of its own, or by one of a layer above.
func (v *View) eachReplaced(sheets []sheet, i int, step func() error, past func(*fact.Version) bool) error {
	sh := &sheets[i]
	err := scanVersions(v.snap, sh.space.prefix(famVersion), fact.NoInstant, func(axis byte, w *version) error {
		if err := step(); err != nil {
			return err
		}
		if axis != axisRecorded || w.tx > sh.tx {
			return nil
		}
		if lost, err := v.lost(sheets[:i], w.id); lost || err != nil {
			return err
		}
		if w.end.tx > sh.tx { // the layer's last: is it the branch's last, too?
			hidden, err := v.hidden(sheets[:i], w.id)
			if err != nil || !hidden {
				return err
			}
		}
		if !past(w.short()) {
			return errEnough
		}
		return nil
	})
	if err != nil || i == 0 {
		return err
	}
	return v.eachOverlaid(sheets, i, step, past)
}

// eachOverlaid visits the rows of a layer that are as it last showed them, and
// that a layer above has changed since.
func (v *View) eachOverlaid(sheets []sheet, i int, step func() error, past func(*fact.Version) bool) error {
	sh := &sheets[i]
	told := make(map[fact.ID]bool)
	for above := range sheets[:i] {
		if sheets[above].forks == nil {
			continue
		}
		it, err := v.iter(sheets[above].space.prefix(famForked))
		if err != nil {
			return err
		}
		for ok := it.First(); ok && err == nil; ok = it.Next() {
			if id := idAtEnd(it.Key()); !told[id] {
				told[id] = true
				err = v.overlaid(sheets[:i], sh, id, past)
			}
			if err == nil {
				err = step()
			}
		}
		if err = errors.Join(err, it.Error(), it.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) overlaid(above []sheet, sh *sheet, id fact.ID, past func(*fact.Version) bool) error {
	f, err := readFact(v.snap, sh.space, id)
	if err != nil || f == nil || f.Tx > sh.tx {
		return err
	}
	hidden, err := v.hidden(above, id)
	if err != nil || !hidden {
		return err
	}
	if lost, err := v.lost(above, id); lost || err != nil {
		return err
	}
	w := &fact.Version{ID: f.ID, Tx: f.Tx, Status: f.Status, ValidFrom: f.ValidFrom, ValidUntil: f.ValidUntil, KnownAt: f.VersionKnownAt}
	if !past(w) {
		return errEnough
	}
	return nil
}

// lost reports whether one of the layers above had a fact and lost it to the sweep.
func (v *View) lost(above []sheet, id fact.ID) (bool, error) {
	for i := range above {
		sh := &above[i]
		if sh.forks == nil {
			continue
		}
		since, err := sh.forks.since(v, sh.space, id)
		if err != nil {
			return false, err
		}
		if since == 0 || since > sh.tx {
			continue
		}
		if there, err := has(v.snap, sh.space.id(id)); !there || err != nil {
			return !there, err
		}
	}
	return false, nil
}
