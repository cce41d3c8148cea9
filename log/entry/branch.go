package entry

import "abagraph/fact"

func (w *writer) branching(c *fact.BranchChange) {
	w.byte(byte(c.Op))
	w.string(c.Name)
	w.string(c.Parent)
	w.instant(c.AsOf)
	w.bool(c.DryRun)
}

func (r *reader) branching() *fact.BranchChange {
	return &fact.BranchChange{
		Op: fact.BranchOp(r.byte()), Name: r.string(), Parent: r.string(), AsOf: r.instant(), DryRun: r.bool(),
	}
}

func (w *writer) branchResult(b *fact.BranchResult) {
	w.byte(byte(b.Op))
	w.branchRecord(&b.Branch)
	w.bool(b.DryRun)
	for _, n := range [...]int{b.Promoted, b.Unchanged, b.Retracted, b.Discarded, b.ConflictCount} {
		w.uint(uint64(n))
	}
	w.ids(b.Superseded)
	w.uint(uint64(len(b.Conflicts)))
	for i := range b.Conflicts {
		c := &b.Conflicts[i]
		w.byte(byte(c.Reason))
		w.b = AppendFact(w.b, &c.Fact)
		w.facts(c.With)
	}
}

func (r *reader) branchResult() *fact.BranchResult {
	b := &fact.BranchResult{Op: fact.BranchOp(r.byte()), Branch: r.branchRecord(), DryRun: r.bool()}
	for _, n := range [...]*int{&b.Promoted, &b.Unchanged, &b.Retracted, &b.Discarded, &b.ConflictCount} {
		*n = int(r.uint())
	}
	b.Superseded = r.ids()
	for n := r.length(); n > 0 && r.err == nil; n-- {
		b.Conflicts = append(b.Conflicts, fact.BranchConflict{
			Reason: fact.ConflictReason(r.byte()), Fact: r.fact(), With: r.facts(),
		})
	}
	return b
}

func (w *writer) branchRecord(b *fact.Branch) {
	w.string(b.Tenant)
	w.string(b.Name)
	w.string(b.Parent)
	w.uint(b.BaseTx)
	w.instant(b.BaseAt)
	w.instant(b.BaseTs)
	w.byte(byte(b.Status))
	w.uint(uint64(b.Depth))
	w.instant(b.CreatedAt)
	w.uint(b.CreatedTx)
	w.string(b.CreatedBy)
	w.instant(b.ClosedAt)
	w.uint(b.ClosedTx)
	w.string(b.ClosedBy)
}

func (r *reader) branchRecord() fact.Branch {
	return fact.Branch{
		Tenant: r.string(), Name: r.string(), Parent: r.string(), BaseTx: r.uint(), BaseAt: r.instant(), BaseTs: r.instant(),
		Status: fact.BranchStatus(r.byte()), Depth: int(r.uint()), CreatedAt: r.instant(), CreatedTx: r.uint(), CreatedBy: r.string(),
		ClosedAt: r.instant(), ClosedTx: r.uint(), ClosedBy: r.string(),
	}
}

// EncodeBranch returns the bytes of a branch's record, for the store.
func EncodeBranch(b *fact.Branch) []byte {
	var w writer
	w.byte(requestVersion)
	w.branchRecord(b)
	return w.b
}

// DecodeBranch reads the bytes of a branch's record.
func DecodeBranch(b []byte) (fact.Branch, error) {
	r := reader{b: b}
	if v := r.byte(); v != requestVersion && r.err == nil {
		r.fail("a branch of a version that this program does not know")
	}
	rec := r.branchRecord()
	return rec, r.done()
}
