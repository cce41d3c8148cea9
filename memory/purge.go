package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// PurgeTarget selects what a purge erases: just one field is set (C-56).
type PurgeTarget struct {
	Subject string
	Prefix  string
	Kind    string
}

// Check refuses a target that names nothing, or more than one thing.
func (t PurgeTarget) Check() error {
	_, err := t.selector(Caller{})
	return err
}

// selector turns a target into a purge of the caller's scope.
func (t PurgeTarget) selector(c Caller) (fact.Purge, error) {
	given := 0
	for _, s := range [...]string{t.Subject, t.Prefix, t.Kind} {
		if s != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return fact.Purge{}, fact.Errorf(fact.SchemaInvalid, "need ?kind= , ?prefix= or ?subject=")
	case given > 1:
		return fact.Purge{}, fact.Errorf(fact.SchemaInvalid, "give exactly one of kind, prefix and subject")
	}
	p := fact.Purge{AllTenants: c.Tenant == "", Subject: normalise(t.Subject), Prefix: normalise(t.Prefix)}
	if t.Kind != "" {
		p.Prefix = normalise(t.Kind) + ":"
	}
	return p, nil
}

// everyBranch refuses a branch where a request is about all of them.
func everyBranch(branch string) error {
	if branch == "" || branch == fact.MainBranch {
		return nil
	}
	return fact.Invalid("branch", "cannot be named here: a purge covers every branch")
}

// PurgePreview counts what a purge would erase.
func (s *Service) PurgePreview(ctx context.Context, c Caller, read Read, t PurgeTarget, trace *Trace) (uint64, Meta, error) {
	if err := c.RequireOperator(); err != nil {
		return 0, Meta{}, err
	}
	p, err := t.selector(c)
	if err != nil {
		return 0, Meta{}, err
	}
	if err := everyBranch(read.Branch); err != nil {
		return 0, Meta{}, err
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return 0, Meta{}, err
	}
	defer r.close()
	n, err := r.view.PurgeCount(r.ctx, r.scope, p)
	if err != nil {
		return 0, r.meta, fmt.Errorf("count what a purge would erase: %w", err)
	}
	trace.Step("execute", "by_subject")
	trace.Name("purge_preview", "pick by_subject index → count")
	trace.Int("facts", int(n))
	return n, r.meta, nil
}

// Purge erases facts for good, on every node (C-56).
func (s *Service) Purge(ctx context.Context, c Caller, o WriteOptions, t PurgeTarget, trace *Trace) (*fact.Result, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	if err := everyBranch(o.Branch); err != nil {
		return nil, err
	}
	p, err := t.selector(c)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%q %q %q %v", c.Tenant, p.Subject, p.Prefix, p.AllTenants)
	if err := s.approve(ctx, c, &o, "purge", what); err != nil {
		return nil, err
	}
	result, err := s.propose(ctx, c, o, &fact.Request{Tenant: c.Tenant, Branch: fact.MainBranch, Purge: &p}, trace)
	if err == nil {
		trace.Name("purge", "pick by_subject index → erase")
		trace.Int("deleted", int(result.Purged))
	}
	return result, err
}
