package fsm

import (
	"cmp"
	"context"
	"slices"

	"abagraph/fact"
)

// BranchDiff tells what a branch changes of its parent, in lists of at most limit
// rows each; 0 = MaxLimit. Now is the time at which a promotion is thought of.
func (v *View) BranchDiff(ctx context.Context, scope fact.Scope, name string, now fact.Instant, limit int) (*fact.BranchDiff, error) {
	rec, err := v.Branch(ctx, scope, name)
	if err != nil {
		return nil, err
	}
	d := &differ{ctx: ctx, v: v, diff: &fact.BranchDiff{Branch: *rec}, limit: limit, held: make(map[lineKey][]fact.Object)}
	if d.limit <= 0 {
		d.limit = fact.MaxLimit
	}
	rows, err := d.rows()
	if err != nil {
		return nil, err
	}
	return d.diff, d.run(yieldOf(rows, rec.BaseTx, now))
}

type differ struct {
	ctx   context.Context
	v     *View
	diff  *fact.BranchDiff
	limit int
	// held are the objects that the parent held at the fork point.
	held map[lineKey][]fact.Object
}

// rows returns the branch's own rows; of one that was discarded there are none.
func (d *differ) rows() ([]fact.Fact, error) {
	rec := &d.diff.Branch
	if rec.Status == fact.BranchDiscarded {
		return nil, nil
	}
	var rows []fact.Fact
	weight := 0
	err := eachOwn(d.v.snap, space{rec.Tenant, rec.Name}, func(f *fact.Fact) error {
		if weight += f.Weight(); weight > fact.MaxTxBytes {
			return fact.Errorf(fact.TooLarge, "the branch holds facts of more than %d MiB: read it with tx_gt=", fact.MaxTxBytes>>20)
		}
		rows = append(rows, *f)
		return d.ctx.Err()
	})
	return rows, err
}

func (d *differ) run(y *yield) error {
	added, changed := d.list(), d.list()
	for i := range y.asserts {
		f := &y.asserts[i]
		held, err := d.heldBy(f)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(held, func(o fact.Object) bool { return !o.Equal(f.Object) }) {
			changed.add(f)
			d.diff.ChangedCount++
		} else {
			added.add(f)
			d.diff.AddedCount++
		}
	}
	removed, replaced := d.list(), d.list()
	for i := range y.retracts {
		removed.add(&y.retracts[i])
	}
	for i := range y.replaced {
		replaced.add(&y.replaced[i])
	}
	d.diff.RemovedCount, d.diff.ReplacedCount = len(y.retracts), len(y.replaced)
	d.diff.Added, _ = added.list()
	d.diff.Changed, _ = changed.list()
	d.diff.Removed, _ = removed.list()
	d.diff.Replaced, _ = replaced.list()
	return nil
}

func (d *differ) list() *firsts {
	return &firsts{limit: d.limit, compare: func(a, b *fact.Fact) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Predicate, b.Predicate), cmp.Compare(a.Tx, b.Tx), compareIDs(a.ID, b.ID))
	}}
}

// heldBy returns the objects that the parent held of a fact's timeline at the
// fork point.
func (d *differ) heldBy(f *fact.Fact) ([]fact.Object, error) {
	rec := &d.diff.Branch
	k := lineKey{space{rec.Tenant, rec.Parent}, f.Subject, f.Predicate}
	if held, known := d.held[k]; known {
		return held, nil
	}
	at := fact.Present(rec.BaseTs)
	at.Tx, at.Pinned, at.AsOf = rec.BaseTx, true, rec.BaseTs
	q := &fact.Query{Subject: f.Subject, Predicate: f.Predicate, At: at}
	var held []fact.Object
	err := d.v.gather(d.ctx, fact.Scope{Tenant: rec.Tenant, Branch: rec.Parent}, q, func(e *fact.Fact) {
		if !slices.ContainsFunc(held, e.Object.Equal) {
			held = append(held, e.Object)
		}
	})
	d.held[k] = held
	return held, err
}
