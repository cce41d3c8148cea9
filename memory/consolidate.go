package memory

import (
	"context"
	"errors"
	"slices"

	"abagraph/fact"
	"abagraph/memory/check"
)

// maxCollapses is how often a collapse is proposed again without the facts that
// others have changed meanwhile.
const maxCollapses = 8

// ConsolidateQuery says what to collapse.
type ConsolidateQuery struct {
	Subject   string
	Predicate string
	// Coexist are further predicates that may have several values at a time.
	Coexist []string
	// DryRun writes nothing, and tells what would be collapsed.
	DryRun bool
}

// Consolidated is what a collapse did.
type Consolidated struct {
	Meta Meta // of the read that it was worked out from
	// Collapsed are the ids of the copies that were retracted.
	Collapsed []fact.ID
	// Copies are what would be collapsed, in a dry run: in each the fact that
	// stays, and then those that go.
	Copies []check.Copies
	// Conflicts is how many contradictions of several active values are left.
	Conflicts int
	// Overtaken is how many groups of copies others wrote beside meanwhile: they
	// were left alone. Limited tells that there are more copies than one tx
	// may end.
	Overtaken int
	Limited   bool
}

// Consolidate retracts all but one of the facts that say the same for exactly the
// same time, in one tx for each tenant. It is worked out from what holds, and
// what was changed by others meanwhile is left alone.
func (s *Service) Consolidate(ctx context.Context, c Caller, o WriteOptions, q *ConsolidateQuery, trace *Trace) (*Consolidated, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	read := NewRead()
	read.Branch = o.Branch
	k, err := s.findCopies(ctx, c, read, q, trace)
	if err != nil {
		return nil, nil, err
	}
	done := &Consolidated{Meta: k.r.meta, Conflicts: k.conflicts, Limited: k.limited}
	trace.Name("consolidate", "by_subject index → copies of equal time → guards → retracts, in one tx")
	trace.Int("candidates_scanned", k.scanned)
	if q.DryRun {
		done.preview(k)
		return done, nil, nil
	}
	var last *fact.Result
	for _, tenant := range k.tenants {
		owner := c
		owner.Tenant = tenant
		result, err := s.collapse(ctx, owner, o, k.found[tenant], done, trace)
		if err != nil {
			return nil, result, err
		}
		if result != nil {
			last = result
		}
	}
	if last != nil && last.Replayed {
		// A repeated answer tells what was left at the tx of the first one.
		read.Level, read.MinTx, read.Tx, read.Pinned = fact.Stale, last.Tx, last.Tx, true
		if k, err = s.findCopies(ctx, c, read, q, nil); err != nil {
			return nil, last, err
		}
		done.Conflicts, done.Limited = k.conflicts, k.limited
		done.Meta.Warnings = k.r.meta.Warnings
	}
	trace.Int("collapsed", len(done.Collapsed))
	trace.Int("conflicts", done.Conflicts)
	return done, last, nil
}

func (d *Consolidated) preview(k *copyFinder) {
	for _, tenant := range k.tenants {
		for _, same := range k.found[tenant] {
			d.Copies = append(d.Copies, same.Copies)
			d.Collapsed = append(d.Collapsed, same.goers()...)
		}
	}
}

// goers are the ids of the copies that do not stay.
func (g *guarded) goers() []fact.ID {
	var ids []fact.ID
	for i := range g.Copies[1:] {
		ids = append(ids, g.Copies[1+i].ID)
	}
	return ids
}

// collapse proposes to retract the copies of one tenant. It proposes without any,
// too, where the answer is to be remembered.
func (s *Service) collapse(ctx context.Context, c Caller, o WriteOptions, found []guarded, done *Consolidated, trace *Trace) (*fact.Result, error) {
	o.Blames = NoField
	for range maxCollapses {
		if len(found) == 0 && o.Idem == nil {
			return nil, nil
		}
		result, err := s.Transact(ctx, c, o, collapsing(found), trace)
		if err == nil {
			done.Collapsed = append(done.Collapsed, result.RetractedIDs...)
			return result, nil
		}
		var e *fact.Error
		if !overtaken(err) || !errors.As(err, &e) {
			return result, err
		}
		left := slices.DeleteFunc(slices.Clone(found), func(same guarded) bool {
			return slices.ContainsFunc(e.Failures, func(f fact.GuardFailure) bool {
				return f.Subject == same.guard.Subject && f.Predicate == same.guard.Predicate && f.Expected == same.guard.Object
			})
		})
		done.Overtaken += len(found) - len(left)
		found = left
	}
	return nil, fact.Errorf(fact.Conflict, "the facts were changed by others each time they were about to be collapsed: try again")
}

// collapsing is the batch that keeps the first of each group of copies. It is
// refused where anything else is active beside them than what was read.
func collapsing(found []guarded) *fact.Write {
	w := &fact.Write{}
	for _, same := range found {
		w.Guards = append(w.Guards, same.guard)
		for _, id := range same.goers() {
			w.Retracts = append(w.Retracts, fact.Retract{ID: id, KnownAt: fact.NoInstant})
		}
	}
	return w
}
