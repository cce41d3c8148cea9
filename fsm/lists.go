package fsm

import (
	"bytes"
	"cmp"
	"context"

	"abagraph/fact"
)

// Fact returns a fact of whatever status, with the pieces of its statement,
// itself included, by valid_from (C-16).
func (v *View) Fact(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Statement, error) {
	sel := &selector{q: &fact.Query{At: at}, past: at.Past()}
	if sel.past {
		if err := v.pin(ctx, sel); err != nil {
			return nil, err
		}
	}
	sheets, f, err := v.locate(scope, id, sel)
	if err != nil {
		return nil, err
	}
	var own *fact.Fact
	pieces := &firsts{limit: fact.MaxLimit, compare: compareStart}
	for i := range sheets {
		sh := &sheets[i]
		err = v.eachPiece(ctx, sh.space, f, func(now *fact.Fact) error {
			p, err := v.seen(sh.space, now, sh.sel)
			if err != nil || p == nil {
				return err
			}
			if hidden, err := v.hidden(sheets[:i], p.ID); hidden || err != nil {
				return err
			}
			pieces.add(p)
			if p.ID == id {
				own = p
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if own == nil {
		return nil, noFact(id)
	}
	st := &fact.Statement{Fact: *own}
	st.Pieces, st.Cut = pieces.list()
	return st, nil
}

func noFact(id fact.ID) error { return fact.Errorf(fact.NotFound, "fact %s not found", id) }

// seen returns the version of a fact that a read sees; nil where there is none.
func (v *View) seen(s space, f *fact.Fact, sel *selector) (*fact.Fact, error) {
	if sel.sees(f) {
		return f, nil
	}
	var found *fact.Fact
	prefix := s.versions(f.Subject, f.Predicate, axisRecorded)
	err := v.replaced(prefix[:len(prefix)-1], sel, nil, func(w *version) error {
		if w.id == f.ID {
			was := w.of(f)
			found = &was
		}
		return nil
	})
	return found, err
}

// locate finds a fact by its id within a scope, and the layers of its branch.
func (v *View) locate(scope fact.Scope, id fact.ID, sel *selector) ([]sheet, *fact.Fact, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return nil, nil, err
	}
	for _, tenant := range tenants {
		sheets, err := v.pile(space{tenant, scope.Branch}, sel)
		if err != nil {
			return nil, nil, err
		}
		for i := range sheets {
			f, err := readFact(v.snap, sheets[i].space, id)
			if err != nil || f != nil {
				return sheets, f, err
			}
		}
	}
	return nil, nil, noFact(id)
}

// eachPiece visits the current rows of a fact's statement. They share its
// content, however many they are.
func (v *View) eachPiece(ctx context.Context, s space, f *fact.Fact, visit func(*fact.Fact) error) error {
	prefix := appendTime(s.statements(f.Subject, f.Predicate, f.Object, f.Source), f.StatedFrom)
	it, err := openIter(v.snap, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		p, err := readFact(v.snap, s, idAtEnd(it.Key()))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if p == nil || p.Statement() != f.Statement() {
			continue
		}
		p.Object, p.Source, p.Properties = f.Object, f.Source, f.Properties
		if err := visit(p); err != nil {
			return err
		}
	}
	return it.Error()
}

// History tells the life of a fact (C-58), in lists of at most limit rows each;
// 0 = MaxLimit.
func (v *View) History(ctx context.Context, scope fact.Scope, id fact.ID, limit int) (*fact.History, error) {
	sel := &selector{q: &fact.Query{At: fact.Present(fact.NoInstant)}}
	sheets, f, err := v.locate(scope, id, sel)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = fact.MaxLimit
	}
	if scope.Branch != fact.MainBranch {
		return v.historyOf(ctx, scope.Branch, sheets, f, limit)
	}
	s := sheets[0].space
	h := &fact.History{Fact: *f}
	pieces := &firsts{limit: limit, compare: compareStart}
	versions := &firsts{limit: limit, compare: func(a, b *fact.Fact) int {
		return cmp.Or(cmp.Compare(a.Tx, b.Tx), bytes.Compare(a.ID[:], b.ID[:]))
	}}
	now := make(map[fact.ID]*fact.Fact)
	err = v.eachPiece(ctx, s, f, func(p *fact.Fact) error {
		now[p.ID] = p
		pieces.add(p)
		versions.add(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.Pieces, h.PiecesCut = pieces.list()
	err = scanVersions(v.snap, s.versions(f.Subject, f.Predicate, axisRecorded), fact.NoInstant, func(_ byte, w *version) error {
		if p := now[w.id]; p != nil {
			was := w.of(p)
			versions.add(&was)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	h.Versions, h.VersionsCut = versions.list()
	h.Timeline, h.TimelineCut, err = v.timeline(ctx, s, f, limit)
	return h, err
}

// timeline returns the first current rows of a subject and predicate, and
// whether there are more.
func (v *View) timeline(ctx context.Context, s space, f *fact.Fact, limit int) ([]fact.Fact, bool, error) {
	rows := &firsts{limit: limit, compare: compareStart}
	for status := fact.Active; status <= fact.Retracted; status++ {
		prefix := s.line(f.Subject, f.Predicate, status)
		it, err := openIter(v.snap, prefix, successor(prefix))
		if err != nil {
			return nil, false, err
		}
		for ok := it.First(); ok; ok = it.Next() {
			row, err := rowValue(it)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				it.Close()
				return nil, false, err
			}
			rows.add(&row)
		}
		if err := it.Close(); err != nil {
			return nil, false, storageError("read a timeline", err)
		}
	}
	list, cut := rows.list()
	return list, cut, nil
}
