package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// AuditRequest selects a part of the audit trail: by tx, by record time, by the
// name of the key and by what was done.
type AuditRequest struct {
	Read
	After, Before uint64 // txs, exclusive; Before 0 = no bound
	Forward       bool   // the oldest first
	From, To      fact.Instant
	Actor, Action string
	Limit         int
}

// Audit returns a page of who did what (C-56). A tenant's admin sees the trail of
// its tenant, the operator that of all.
func (s *Service) Audit(ctx context.Context, c Caller, q *AuditRequest, trace *Trace) (*fact.AuditPage, Meta, error) {
	if err := c.Require(fact.RoleAdmin); err != nil {
		return nil, Meta{}, err
	}
	if q.Branch != "" {
		return nil, Meta{}, fact.Invalid("branch", "cannot be named here: the trail is of every branch")
	}
	q.bare = true
	r, err := s.begin(ctx, c, q.Read, q.After, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	query := fact.AuditQuery{Scope: r.scope, After: q.After, Before: q.Before, Forward: q.Forward, Actor: q.Actor, Action: q.Action, Limit: q.Limit}
	if err := r.between(&query, q.From, q.To); err != nil {
		return nil, r.meta, err
	}
	page, err := r.view.Audit(r.ctx, &query)
	if err != nil {
		return nil, r.meta, fmt.Errorf("read the audit trail: %w", err)
	}
	trace.Step("execute", "audit")
	trace.Name("audit", "pick by_tx index")
	trace.Int("results", len(page.Records))
	trace.Bool("limit_hit", page.Next > 0)
	return page, r.meta, nil
}

// between narrows a trail to the txs recorded from one instant, and up to another.
func (r *reading) between(q *fact.AuditQuery, from, to fact.Instant) error {
	if from.Given() {
		before, err := r.view.TxAt(r.ctx, from-1)
		if err != nil {
			return fmt.Errorf("find the tx of a record time: %w", err)
		}
		q.After = max(q.After, before)
	}
	if !to.Given() {
		return nil
	}
	last, err := r.view.TxAt(r.ctx, to)
	if err != nil {
		return fmt.Errorf("find the tx of a record time: %w", err)
	}
	if q.Before == 0 || last+1 < q.Before {
		q.Before = last + 1
	}
	return nil
}
