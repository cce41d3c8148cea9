package memory

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/rules"
)

// sight is what a caller may see of a branch: nil for all of it. The error is
// Forbidden where that is nothing.
func (s *Service) sight(ctx context.Context, c Caller, view View, branch string) (*fact.Sight, error) {
	if !c.governed() {
		return nil, nil
	}
	set, err := s.policyOf(ctx, c.Tenant, view)
	if err != nil {
		return nil, err
	}
	branches, err := s.lineage(ctx, c.Tenant, set, view, branch)
	if err != nil {
		return nil, err
	}
	sight, d := set.Sight(c.who(), branches, s.instant())
	if !d.Allowed {
		return nil, forbidden(rules.FactsRead, rules.Resource{Branch: branches[0]}, d)
	}
	return sight, nil
}

// lineage is a branch and those that it stands upon, the nearest first. Of a branch
// that is not there it is the name alone: what reads it says so.
func (s *Service) lineage(ctx context.Context, tenant string, set *rules.Set, view View, branch string) ([]string, error) {
	if branch == "" {
		branch = fact.MainBranch
	}
	list := []string{branch}
	if branch == fact.MainBranch || !set.Active() {
		return list, nil
	}
	if view == nil {
		var err error
		if view, err = s.view(ctx); err != nil {
			return nil, fmt.Errorf("open a view: %w", err)
		}
		defer view.Close()
	}
	for branch != fact.MainBranch && len(list) <= fact.MaxBranchDepth {
		b, err := view.Branch(ctx, fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, branch)
		if fact.CodeOf(err) == fact.NotFound {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read what a branch stands upon: %w", err)
		}
		branch = b.Parent
		list = append(list, branch)
	}
	return list, nil
}

// narrowed takes out of an answer what the caller may not read. Who may read
// nothing is still told what it wrote.
func (s *Service) narrowed(ctx context.Context, c Caller, r *fact.Request, result *fact.Result, trace *Trace) error {
	if !c.governed() {
		return nil
	}
	sight, err := s.blindly(ctx, c, r.Branch)
	if err == nil && sight != nil {
		trace.veil(sight)
		narrow(result, sight)
	}
	if err == nil && result.Branching != nil {
		return s.narrowBranching(ctx, c, result.Branching, trace)
	}
	return err
}

// blindly is sight, of nothing at all where that is refused.
func (s *Service) blindly(ctx context.Context, c Caller, branch string) (*fact.Sight, error) {
	sight, err := s.sight(ctx, c, nil, branch)
	if fact.CodeOf(err) == fact.Forbidden {
		return &fact.Sight{}, nil
	}
	return sight, err
}

// narrowBranching takes out of the conflicts of a promotion what may not be seen on the
// branch, and what not on its parent.
func (s *Service) narrowBranching(ctx context.Context, c Caller, b *fact.BranchResult, trace *Trace) error {
	if len(b.Conflicts) == 0 {
		return nil
	}
	own, err := s.blindly(ctx, c, b.Branch.Name)
	if err != nil {
		return err
	}
	parent, err := s.blindly(ctx, c, b.Branch.Parent)
	if err != nil {
		return err
	}
	for _, sight := range [...]*fact.Sight{own, parent} {
		if sight != nil {
			trace.veil(sight)
		}
	}
	b.Conflicts = slices.DeleteFunc(b.Conflicts, func(k fact.BranchConflict) bool { return !own.Sees(&k.Fact) })
	for i := range b.Conflicts {
		b.Conflicts[i].With = parent.Filter(b.Conflicts[i].With)
	}
	return nil
}
