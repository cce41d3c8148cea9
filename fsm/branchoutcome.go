package fsm

import "abagraph/fact"

// branchOutcome is what is kept of a change to the branches that came with an
// Idempotency-Key.
type branchOutcome struct {
	Op            fact.BranchOp
	Name          string
	DryRun        bool              `json:",omitempty"`
	Promoted      int               `json:",omitempty"`
	Unchanged     int               `json:",omitempty"`
	Retracted     int               `json:",omitempty"`
	Discarded     int               `json:",omitempty"`
	Superseded    []fact.ID         `json:",omitempty"`
	Conflicts     []conflictOutcome `json:",omitempty"`
	ConflictCount int               `json:",omitempty"`
}

type conflictOutcome struct {
	Reason fact.ConflictReason
	ID     fact.ID
	With   []fact.ID `json:",omitempty"`
}

func branchOutcomeOf(b *fact.BranchResult) *branchOutcome {
	o := &branchOutcome{
		Op: b.Op, Name: b.Branch.Name, DryRun: b.DryRun, Promoted: b.Promoted, Unchanged: b.Unchanged, Retracted: b.Retracted,
		Discarded: b.Discarded, Superseded: b.Superseded, ConflictCount: b.ConflictCount,
	}
	for i := range b.Conflicts {
		c := &b.Conflicts[i]
		o.Conflicts = append(o.Conflicts, conflictOutcome{Reason: c.Reason, ID: c.Fact.ID, With: idsOf(c.With)})
	}
	return o
}

// branching makes the answer to a change of the branches anew. The branch is told
// as that change left it, whatever became of it later.
func (r *rebuilder) branching(res *fact.Result, o *branchOutcome) {
	s := space{r.space.tenant, o.Name}
	rec, err := r.l.branch(s)
	if rec == nil {
		if r.err == nil {
			r.err = err
		}
		return
	}
	was := *rec
	if o.Op == fact.BranchCreate || o.DryRun {
		was.Status, was.ClosedAt, was.ClosedTx, was.ClosedBy = fact.BranchOpen, fact.NoInstant, 0, ""
	}
	res.Branching = &fact.BranchResult{
		Op: o.Op, Branch: was, DryRun: o.DryRun, Promoted: o.Promoted, Unchanged: o.Unchanged, Retracted: o.Retracted,
		Discarded: o.Discarded, Superseded: o.Superseded, ConflictCount: o.ConflictCount,
	}
	own, parent := *r, *r
	own.space, parent.space = s, space{r.space.tenant, rec.Parent}
	for _, c := range o.Conflicts {
		res.Branching.Conflicts = append(res.Branching.Conflicts, fact.BranchConflict{
			Reason: c.Reason, Fact: own.fact(c.ID), With: parent.facts(c.With),
		})
	}
	for _, failed := range []error{own.err, parent.err} {
		if r.err == nil {
			r.err = failed
		}
	}
}

// seenAt returns a fact as a branch saw it at a tx, an inherited one too; nil
// where it is gone.
func (l *ledger) seenAt(s space, id fact.ID, tx uint64) (*fact.Fact, error) {
	f, err := l.factAt(s, id, tx)
	if f != nil || err != nil || s.branch == fact.MainBranch {
		return f, err
	}
	layers, err := lineage(s, l.branch)
	if err != nil {
		return nil, err
	}
	for _, a := range layers {
		if f, err = l.factAt(a.space, id, min(a.tx, tx)); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}
