package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// approveBranching lets a change of a branch through where the tenant's policy requires
// the approval of a second agent, once it was given; else the error is
// *PendingApproval. The administrator is under no policy.
func (s *Service) approveBranching(ctx context.Context, c Caller, o *WriteOptions, change *fact.BranchChange) error {
	switch {
	case !c.governed():
		return needless(o, "the administrator is under no policy")
	case change.DryRun:
		return needless(o, "a dry run changes nothing")
	}
	set, err := s.policyOf(ctx, c.Tenant, nil)
	if err != nil {
		return err
	}
	permission := branchPermissions[change.Op]
	need := set.NeedsApproval(permission, change.Name, s.instant())
	switch {
	case need == nil:
		return needless(o, "no rule of the policy requires one for "+permission)
	case need.Broken != "":
		return fact.Errorf(fact.Forbidden, "a rule of the policy that cannot be understood requires something for %s: fact %s, %s", permission, need.ID, need.Broken)
	}
	state, err := s.branchState(ctx, c, change)
	if err != nil {
		return err
	}
	return s.takesTwo(ctx, c, o, branchActions[change.Op], state)
}

// branchActions are the words for what is done to a branch, as the audit trail has them.
var branchActions = [...]string{fact.BranchCreate: "branch.create", fact.BranchPromote: "branch.promote", fact.BranchDiscard: "branch.discard"}

// branchState says what is approved: the change, and for a branch that is there the last
// tx that wrote on it, so that nothing is slipped in after somebody has looked.
func (s *Service) branchState(ctx context.Context, c Caller, change *fact.BranchChange) (string, error) {
	what := fmt.Sprintf("%q %q %q %d", c.Tenant, change.Name, change.Parent, change.AsOf)
	if change.Op == fact.BranchCreate {
		return what, nil
	}
	read := NewRead()
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, nil)
	if err != nil {
		return "", err
	}
	defer r.close()
	b, err := r.branch(change.Name)
	if err != nil {
		return "", err
	}
	q := &fact.Query{Scope: fact.Scope{Tenant: c.Tenant, Branch: b.Name}, Statuses: fact.AllStatuses, StatusGiven: true, At: r.at, Limit: 1}
	newest, err := r.view.Facts(r.ctx, q)
	if err != nil {
		return "", fmt.Errorf("look at the branch: %w", err)
	}
	for i := range newest.Facts {
		what += fmt.Sprintf(" %d", newest.Facts[i].Tx)
	}
	return fmt.Sprintf("%s %d", what, b.CreatedTx), nil
}
