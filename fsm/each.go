package fsm

import (
	"context"
	"errors"
	"fmt"

	"abagraph/fact"
	"abagraph/log/entry"
)

// Each visits every fact that a query selects, in no order that means anything
// and without a limit, holding one fact at a time. A query that names a subject, a
// predicate or objects reads their index; any other one reads all of its tenants'
// rows, in the order in which they lie. It ends early when visit answers false.
func (v *View) Each(ctx context.Context, q *fact.Query, visit func(*fact.Fact) bool) error {
	sel, err := v.selector(ctx, q)
	if err != nil {
		return err
	}
	if indexOf(q) != fullScan && !q.TxGtGiven {
		c := newCollector(q)
		c.visit = func(f *fact.Fact) { c.enough = !visit(f) }
		if err := v.collect(ctx, sel, c, q.Scope); !errors.Is(err, errEnough) {
			return err
		}
		return nil
	}
	tenants, err := v.tenants(q.Scope)
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
	for _, tenant := range tenants {
		sheets, err := v.pile(space{tenant, q.Scope.Branch}, sel)
		if err != nil {
			return err
		}
		for i := range sheets {
			if more, err := v.eachIn(sheets, i, step, visit); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// eachIn visits the facts of one layer that none above it has.
func (v *View) eachIn(sheets []sheet, i int, step func() error, visit func(*fact.Fact) bool) (more bool, err error) {
	sh := &sheets[i]
	show := visit
	var failed error
	if i > 0 {
		show = func(f *fact.Fact) bool {
			var hidden bool
			if hidden, failed = v.hidden(sheets[:i], f.ID); failed != nil {
				return false
			}
			return hidden || visit(f)
		}
	}
	more, err = v.eachRow(sh.space, sh.sel, "", step, show)
	if more && err == nil && sh.sel.past {
		more, err = v.eachVersion(sh.space, sh.sel, step, func(uint64) bool { return true }, show)
	}
	return more, errors.Join(err, failed)
}

// eachRow visits the rows of a branch that a read sees and accepts, of the subjects
// after a name. step is called for each that it looks at, and for some that it passes
// over; a fact is valid until visit returns.
func (v *View) eachRow(s space, sel *selector, after string, step func() error, visit func(*fact.Fact) bool) (more bool, err error) {
	pass, err := newRowPass(v.snap, s, sel, after)
	if err != nil {
		return false, err
	}
	defer pass.it.Close()
	var f fact.Fact // one for all rows: there may be millions
	var repeats entry.Repeats
	for {
		ok, err := pass.next(step)
		if !ok || err != nil {
			return true, errors.Join(err, pass.it.Error())
		}
		b, err := pass.it.ValueAndErr()
		if err != nil {
			return false, storageError("read a row", err)
		}
		if f, err = repeats.DecodeFact(b); err != nil {
			return false, fact.Errorf(fact.StorageCorruption, "a row cannot be read: %v", err)
		}
		if sel.sees(&f) && sel.accepts(&f) && !visit(&f) {
			return false, nil
		}
	}
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")

// eachVersion visits the versions that were replaced since, and that a read sees and
// accepts, as far as worth holds of the txs that made them.
func (v *View) eachVersion(s space, sel *selector, step func() error, worth func(tx uint64) bool, visit func(*fact.Fact) bool) (more bool, err error) {
	err = v.replaced(s.prefix(famVersion), sel, step, func(w *version) error {
		if err := step(); err != nil {
			return err
		}
		if !sel.mayAccept(w) || !worth(w.tx) {
			return nil
		}
		now, err := readFact(v.snap, s, w.id)
		if err != nil || now == nil {
			return err
		}
		if f := w.of(now); sel.accepts(&f) && !visit(&f) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return err == nil, err
}

// IsSubject reports whether a name is the subject of any fact, of whatever
// status, at the record time that is read.
func (v *View) IsSubject(ctx context.Context, scope fact.Scope, name string, at fact.At) (bool, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return false, err
	}
	for _, tenant := range tenants {
		there, current, err := v.marked(space{tenant, scope.Branch}, name)
		if err != nil {
			return false, err
		}
		if !there {
			continue
		}
		if current && !at.Past() {
			return true, nil
		}
		past := at
		past.AsOf = fact.NoInstant
		q := &fact.Query{
			Scope: fact.Scope{Tenant: tenant, Branch: scope.Branch}, Subject: name,
			Statuses: fact.AllStatuses, StatusGiven: true, At: past, Limit: 1,
		}
		if at.Pinned && scope.Branch == fact.MainBranch {
			there, err = v.hadSubject(ctx, q)
		} else {
			var page *fact.Page
			if page, err = v.Facts(ctx, q); err == nil {
				there = len(page.Facts) > 0
			}
		}
		if err != nil {
			return false, fmt.Errorf("look for a subject: %w", err)
		}
		if there {
			return true, nil
		}
	}
	return false, nil
}

// hadSubject reports whether a subject of main has a fact that was there at the tx
// of a query, whatever became of it: its present rows tell since when they are.
func (v *View) hadSubject(ctx context.Context, q *fact.Query) (bool, error) {
	s := space{q.Scope.Tenant, q.Scope.Branch}
	it, err := v.over(s.class(q.Subject, fact.Active), successor(s.class(q.Subject, fact.Retracted)))
	if err != nil {
		return false, err
	}
	defer v.giveBack(it)
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%256 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		f, err := rowValue(it)
		if err != nil {
			return false, err
		}
		if f.FirstTx <= q.At.Tx {
			return true, nil
		}
	}
	if err := it.Error(); err != nil {
		return false, storageError("look for a subject", err)
	}
	return false, nil
}

// marked reports whether a branch, or what it inherits from, ever had a subject,
// and whether its marker is of the present itself.
func (v *View) marked(s space, subject string) (there, current bool, err error) {
	there, err = has(v.snap, s.marker(subject))
	if s.branch == fact.MainBranch || err != nil {
		return there, true, err
	}
	layers, err := lineage(s, v.branch)
	for _, a := range layers {
		if there || err != nil {
			break
		}
		there, err = has(v.snap, a.space.marker(subject))
	}
	return there, false, err
}
