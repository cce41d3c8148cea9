package model

import (
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
)

// A branch is read here as what a user is told it is: a copy. Making one copies
// every version of the parent's facts, up to the base tx, and from then on each
// goes its own way (C-55). The engine copies nothing.

// place is where a fact lives: the same fact may live on several branches.
type place struct {
	on string
	id fact.ID
}

func (v *version) place() place { return place{v.on, v.ID} }

func (m *Model) branchOf(tenant, name string) *fact.Branch {
	i := slices.IndexFunc(m.branches, func(b fact.Branch) bool { return b.Tenant == tenant && b.Name == name })
	if i < 0 {
		return nil
	}
	return &m.branches[i]
}

// open refuses a branch that is not there or was closed.
func (m *Model) open(tenant, name string) *fact.Error {
	if name == fact.MainBranch {
		return nil
	}
	switch b := m.branchOf(tenant, name); {
	case b == nil:
		return fact.Errorf(fact.NotFound, "no branch: %s", name)
	case b.Status != fact.BranchOpen:
		return fact.Errorf(fact.Conflict, "branch is not open")
	}
	return nil
}

// branching judges a change to the branches; each takes a tx.
func (d *draft) branching(c *fact.BranchChange) *fact.Error {
	if c.Op == fact.BranchCreate {
		return d.fork(c)
	}
	if c.Name == fact.MainBranch {
		return fact.Errorf(fact.NotFound, "main is no branch to be closed")
	}
	if err := d.open(d.req.Tenant, c.Name); err != nil {
		return err
	}
	b := *d.branchOf(d.req.Tenant, c.Name)
	done := &fact.BranchResult{Op: c.Op, DryRun: c.DryRun && c.Op == fact.BranchPromote}
	status := fact.BranchDiscarded
	if c.Op == fact.BranchPromote {
		status = fact.BranchPromoted
		if err := d.open(d.req.Tenant, b.Parent); err != nil {
			return err
		}
		if err := d.promote(&b, done); err != nil {
			return err
		}
	} else {
		done.Discarded = len(only(d.current(), func(v *version) bool { return v.Tenant == b.Tenant && v.on == b.Name && v.FirstTx > b.BaseTx }))
	}
	d.result = fact.Result{Branching: done}
	d.wrote = !done.DryRun
	if d.wrote {
		b.Status, b.ClosedAt, b.ClosedTx, b.ClosedBy = status, d.last, d.tx, d.req.Actor
		*d.branchOf(b.Tenant, b.Name) = b
	} else {
		d.versions = d.versions[:d.before]
	}
	done.Branch = b
	return nil
}

// fork copies the parent as it was recorded at the base tx.
func (d *draft) fork(c *fact.BranchChange) *fact.Error {
	tenant := d.req.Tenant
	if d.branchOf(tenant, c.Name) != nil {
		return fact.Errorf(fact.Conflict, "the branch exists")
	}
	if err := d.open(tenant, c.Parent); err != nil {
		return err
	}
	b := fact.Branch{
		Tenant: tenant, Name: c.Name, Parent: c.Parent, Depth: 1, BaseTx: d.Tx(), BaseTs: d.last, BaseAt: fact.NoInstant,
		CreatedAt: d.last, CreatedTx: d.tx, CreatedBy: d.req.Actor, ClosedAt: fact.NoInstant,
	}
	if c.Parent != fact.MainBranch {
		b.Depth = d.branchOf(tenant, c.Parent).Depth + 1
	}
	if b.Depth > fact.MaxBranchDepth {
		return fact.Invalid("parent", "is too deep")
	}
	if c.AsOf > d.last {
		return fact.Invalid("as_of", "is in the future")
	}
	if c.AsOf.Given() {
		b.BaseTs, b.BaseTx = c.AsOf, d.txAt(c.AsOf)
	}
	if b.BaseTx > 0 {
		b.BaseAt = d.times[b.BaseTx-1]
	}
	for _, v := range d.versions {
		if v.Tenant == tenant && v.on == c.Parent && v.Tx <= b.BaseTx {
			v.on = c.Name
			d.versions = append(d.versions, v)
		}
	}
	d.before = len(d.versions)
	d.branches = append(d.branches, b)
	d.result.Branching = &fact.BranchResult{Op: c.Op, Branch: b}
	d.wrote = true
	return nil
}

// txAt returns the last tx that was not recorded after t.
func (m *Model) txAt(t fact.Instant) uint64 {
	tx := uint64(0)
	for i, at := range m.times {
		if at <= t {
			tx = uint64(i) + 1
		}
	}
	return tx
}

// promote retracts and asserts on the parent what was retracted and asserted on
// the branch.
func (d *draft) promote(b *fact.Branch, done *fact.BranchResult) *fact.Error {
	made, retracted, _ := d.yield(b)
	onto := *d.req
	onto.Branch, onto.Write = b.Parent, &fact.Write{}
	d.req = &onto
	for _, v := range retracted {
		there := only(d.current(), func(p *version) bool { return d.owns(p) && p.ID == v.ID })
		if len(there) == 0 {
			continue
		}
		if there[0].Tx > b.BaseTx && there[0].Tx != d.tx {
			done.Conflicts = append(done.Conflicts, fact.BranchConflict{Reason: fact.ParentChanged, Fact: v.Fact, With: facts(there)})
		}
		before := len(d.result.Retracted)
		if err := d.retract(&fact.Retract{ID: v.ID, KnownAt: fact.NoInstant}); err != nil {
			return err
		}
		if len(d.result.Retracted) > before {
			done.Retracted++
		}
	}
	for _, v := range made {
		if err := d.carry(b, &v, done); err != nil {
			return err
		}
	}
	done.ConflictCount = len(done.Conflicts)
	if !done.DryRun {
		d.showConflicts(done)
	}
	return nil
}

// showConflicts lets them show the parent's facts as the tx left them.
func (d *draft) showConflicts(done *fact.BranchResult) {
	for i := range done.Conflicts {
		for j := range done.Conflicts[i].With {
			f := &done.Conflicts[i].With[j]
			for _, v := range d.current() {
				if d.owns(&v) && v.ID == f.ID {
					*f = v.Fact
				}
			}
		}
	}
}

// carry asserts one statement of the branch on the parent, with the policy that
// it was written with; a candidate stays one.
func (d *draft) carry(b *fact.Branch, v *version, done *fact.BranchResult) *fact.Error {
	a := fact.Assert{
		ID: v.Statement(), Subject: v.Subject, Predicate: v.Predicate, Object: v.Object, ValidFrom: fact.NoInstant,
		ValidUntil: v.StatedUntil, Confidence: v.Confidence, Source: v.Source, Properties: v.Properties,
		Policy: v.Policy, Transient: v.Transient, KnownAt: v.DeclaredKnownAt,
	}
	if v.Dated {
		a.ValidFrom = v.StatedFrom
	}
	d.req.Threshold = 0
	if v.Status == fact.Candidate {
		d.req.Threshold = 2
	}
	n, _ := d.newFact(&a)
	later := byTime(only(d.line(a.Subject, a.Predicate), func(e *version) bool {
		return conflicts(&n, e) && e.Tx > b.BaseTx && e.Tx != d.tx
	}))
	if len(later) > 0 {
		done.Conflicts = append(done.Conflicts, fact.BranchConflict{Reason: fact.ParentChanged, Fact: v.Fact, With: facts(later)})
	}
	if err := d.assert(&a); err != nil {
		if !done.DryRun || err.Code != fact.Conflict {
			return err
		}
		var met []fact.Fact
		for _, id := range err.IDs {
			met = append(met, facts(only(d.current(), func(p *version) bool { return d.owns(p) && p.ID == id }))...)
		}
		done.Conflicts = append(done.Conflicts, fact.BranchConflict{Reason: fact.Rejected, Fact: v.Fact, With: met})
		return nil
	}
	r := &d.result.Asserts[len(d.result.Asserts)-1]
	done.Promoted++
	if r.Duplicate {
		done.Unchanged++
	}
	for _, f := range r.Superseded {
		if !slices.Contains(done.Superseded, f.ID) {
			done.Superseded = append(done.Superseded, f.ID)
		}
	}
	return nil
}

// yield returns what was said on a branch and stands, each statement by one of
// its pieces in the order of the saying; what was retracted of the parent's, each
// statement by one piece, and what was changed of it otherwise.
func (m *Model) yield(b *fact.Branch) (made, retracted, replaced []version) {
	rows := only(m.current(), func(v *version) bool { return v.Tenant == b.Tenant && v.on == b.Name && v.home == b.Name })
	slices.SortFunc(rows, byID)
	root := func(v *version) *version {
		i := slices.IndexFunc(rows, func(r version) bool { return r.ID == v.Statement() && r.FirstTx > b.BaseTx })
		if i < 0 {
			return nil
		}
		return &rows[i]
	}
	for i := range rows {
		v := &rows[i]
		switch own := root(v); {
		case own != nil && own.ID == v.ID:
			pieces := only(rows, func(p *version) bool { return p.Statement() == v.ID && m.counts(p) })
			if len(pieces) > 0 {
				made = append(made, slices.MaxFunc(pieces, func(a, b version) int {
					if a.Holds(m.last) != b.Holds(m.last) {
						return map[bool]int{true: 1, false: -1}[a.Holds(m.last)]
					}
					return cmp.Or(cmp.Compare(a.ValidFrom, b.ValidFrom), byID(a, b))
				}))
			}
		case own != nil || v.FirstTx > b.BaseTx:
		case v.Status != fact.Retracted:
			replaced = append(replaced, *v)
		case !slices.ContainsFunc(retracted, func(r version) bool { return r.Statement() == v.Statement() }):
			retracted = append(retracted, *v)
		}
	}
	slices.SortFunc(made, func(x, y version) int {
		return cmp.Or(cmp.Compare(root(&x).FirstTx, root(&y).FirstTx), byID(*root(&x), *root(&y)))
	})
	return made, oldestFirst(retracted), oldestFirst(replaced)
}

// counts reports whether a piece lets its statement be promoted: it has time, and
// an undated statement is not over.
func (m *Model) counts(p *version) bool {
	switch {
	case p.ValidFrom >= p.ValidUntil || p.Status == fact.Retracted:
		return false
	case p.Dated:
		return p.Status != fact.Superseded || !p.staged
	}
	return p.Status != fact.Superseded && p.StatedUntil > m.last
}

// Diff returns what a branch changes of its parent as it was at the base.
func (m *Model) Diff(tenant, name string) *fact.BranchDiff {
	b := m.branchOf(tenant, name)
	if b == nil {
		return nil
	}
	d := &fact.BranchDiff{Branch: *b}
	if b.Status == fact.BranchDiscarded {
		return d
	}
	made, retracted, replaced := m.yield(b)
	at := fact.Present(b.BaseTs)
	at.Pinned, at.Tx, at.AsOf = true, b.BaseTx, b.BaseTs
	for _, v := range made {
		held := m.Facts(&fact.Query{
			Scope: fact.Scope{Tenant: tenant, Branch: b.Parent}, Subject: v.Subject, Predicate: v.Predicate, At: at, Limit: 1 << 20,
		})
		if slices.ContainsFunc(held, func(f fact.Fact) bool { return !f.Object.Equal(v.Object) }) {
			d.Changed = append(d.Changed, v.Fact)
		} else {
			d.Added = append(d.Added, v.Fact)
		}
	}
	d.Removed, d.Replaced = facts(retracted), facts(replaced)
	for _, list := range [][]fact.Fact{d.Added, d.Changed, d.Removed, d.Replaced} {
		slices.SortFunc(list, func(a, b fact.Fact) int {
			return cmp.Or(strings.Compare(a.Subject, b.Subject), strings.Compare(a.Predicate, b.Predicate),
				cmp.Compare(a.Tx, b.Tx), slices.Compare(a.ID[:], b.ID[:]))
		})
	}
	d.AddedCount, d.ChangedCount, d.RemovedCount, d.ReplacedCount = len(d.Added), len(d.Changed), len(d.Removed), len(d.Replaced)
	return d
}

// Branches lists the branches of a tenant by name.
func (m *Model) Branches(tenant string) []fact.Branch {
	list := slices.DeleteFunc(slices.Clone(m.branches), func(b fact.Branch) bool { return b.Tenant != tenant })
	slices.SortFunc(list, func(a, b fact.Branch) int { return strings.Compare(a.Name, b.Name) })
	return list
}
