package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"abagraph/fact"
)

// NewBranch asks for a branch. Parent "" is main; AsOf NoInstant is now.
type NewBranch struct {
	Name   string
	Parent string
	AsOf   fact.Instant
}

// CreateBranch makes a branch of the caller's tenant: an overlay over its parent as
// it was recorded at the fork point (C-55). No fact is copied.
func (s *Service) CreateBranch(ctx context.Context, c Caller, o WriteOptions, b NewBranch, trace *Trace) (*fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, err
	}
	if err := fact.CheckBranch("name", b.Name); err != nil {
		return nil, err
	}
	if b.Parent == "" {
		b.Parent = fact.MainBranch
	}
	if _, err := CheckBranch(b.Parent); err != nil {
		return nil, inParent(err)
	}
	change := &fact.BranchChange{Op: fact.BranchCreate, Name: b.Name, Parent: b.Parent, AsOf: b.AsOf}
	result, err := s.branching(ctx, c, o, change, trace)
	trace.Name("create_branch", "registry")
	return result, inParent(err)
}

// inParent says of an error about a branch that it is the parent's.
func inParent(err error) error {
	var e *fact.Error
	if !errors.As(err, &e) || e.Field != "branch" || e.Code == fact.SchemaInvalid {
		return err
	}
	named := *e
	named.Field = "parent"
	return &named
}

// PromoteBranch asserts what was said on a branch on its parent, and retracts there
// what was retracted on it, in one tx; then the branch is closed. A dry run judges
// it and writes nothing.
func (s *Service) PromoteBranch(ctx context.Context, c Caller, o WriteOptions, name string, dryRun bool, trace *Trace) (*fact.Result, error) {
	result, err := s.closeBranch(ctx, c, o, &fact.BranchChange{Op: fact.BranchPromote, Name: name, AsOf: fact.NoInstant, DryRun: dryRun}, trace)
	trace.Name("promote_branch", "own rows → retracts → asserts on the parent, in one tx")
	return result, err
}

// DiscardBranch closes a branch; what was written on it is seen no more, but by
// reads of the time before.
func (s *Service) DiscardBranch(ctx context.Context, c Caller, o WriteOptions, name string, trace *Trace) (*fact.Result, error) {
	result, err := s.closeBranch(ctx, c, o, &fact.BranchChange{Op: fact.BranchDiscard, Name: name, AsOf: fact.NoInstant}, trace)
	trace.Name("discard_branch", "registry")
	return result, err
}

func (s *Service) closeBranch(ctx context.Context, c Caller, o WriteOptions, change *fact.BranchChange, trace *Trace) (*fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, err
	}
	if change.Name == fact.MainBranch {
		return nil, fact.Invalid("name", "is main, which cannot be promoted or discarded")
	}
	if _, err := CheckBranch(change.Name); err != nil {
		return nil, err
	}
	return s.branching(ctx, c, o, change, trace)
}

func (s *Service) branching(ctx context.Context, c Caller, o WriteOptions, change *fact.BranchChange, trace *Trace) (*fact.Result, error) {
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, fact.Invalid("branch", "cannot be named here: the path, or name in the body, says which branch")
	}
	result, err := s.propose(ctx, c, o, &fact.Request{Tenant: c.Tenant, Branch: fact.MainBranch, Branching: change}, trace)
	if err == nil && result.Branching == nil {
		return result, fact.Errorf(fact.StorageCorruption, "the branch of an earlier answer is not there")
	}
	return result, err
}

// BranchList lists branches in the order of their names. Make its Read with
// NewRead.
type BranchList struct {
	Read
	After       string
	Limit       int // 0 = as many as a page may hold
	Status      fact.BranchStatus
	StatusGiven bool
}

// Branches lists the branches that the caller may see, closed ones included. more
// tells that others follow the last one.
func (s *Service) Branches(ctx context.Context, c Caller, l *BranchList, trace *Trace) (list []fact.Branch, more bool, meta Meta, err error) {
	l.bare = true
	r, err := s.begin(ctx, c, l.Read, 0, trace)
	if err != nil {
		return nil, false, Meta{}, err
	}
	defer r.close()
	n := l.Limit
	if n == 0 {
		n = fact.MaxLimit
	}
	list, err = r.view.Branches(r.ctx, &fact.BranchQuery{
		Scope: r.scope, After: l.After, Limit: n + 1, Status: l.Status, StatusGiven: l.StatusGiven,
	})
	if err != nil {
		return nil, false, r.meta, fmt.Errorf("list branches: %w", err)
	}
	if more = len(list) > n; more {
		list = list[:n]
	}
	trace.Step("execute", "registry")
	trace.Name("list_branches", "registry")
	trace.Int("results", len(list))
	trace.Bool("limit_hit", more)
	return list, more, r.meta, nil
}

// Branch returns one branch, open or closed.
func (s *Service) Branch(ctx context.Context, c Caller, read Read, name string, trace *Trace) (*fact.Branch, Meta, error) {
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	b, err := r.branch(name)
	trace.Step("execute", "registry")
	trace.Name("get_branch", "registry")
	return b, r.meta, err
}

// BranchDiff tells what a branch changes of its parent as it was at the base: what a
// promotion would carry over. limit bounds each list; 0 = fact.DefaultLimit.
func (s *Service) BranchDiff(ctx context.Context, c Caller, read Read, name string, limit int, trace *Trace) (*fact.BranchDiff, Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	leave, err := s.whole.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	rec, err := r.branch(name)
	if err != nil {
		return nil, r.meta, err
	}
	if limit == 0 {
		limit = fact.DefaultLimit
	}
	diff, err := r.view.BranchDiff(r.ctx, fact.Scope{Tenant: rec.Tenant, Branch: fact.MainBranch}, rec.Name, r.at.Now, limit)
	if err != nil {
		return nil, r.meta, fmt.Errorf("compare a branch: %w", err)
	}
	trace.Step("execute", "own rows")
	trace.Name("diff_branch", "own rows → the parent's at the fork point")
	trace.Int("added", diff.AddedCount)
	trace.Int("changed", diff.ChangedCount)
	trace.Int("removed", diff.RemovedCount)
	trace.Int("replaced", diff.ReplacedCount)
	return diff, r.meta, nil
}

func (r *reading) branch(name string) (*fact.Branch, error) {
	if fact.CheckBranch("name", name) != nil {
		return nil, NoBranch(name)
	}
	b, err := r.view.Branch(r.ctx, r.scope, name)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, NoBranch(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read a branch: %w", err)
	}
	return b, nil
}

// onBranch refuses to read a branch that is not there, or that had been discarded at
// the point of record time that is read.
func (r *reading) onBranch(dropped bool) error {
	b, err := r.branch(r.scope.Branch)
	if err != nil || dropped || r.scope.All || b.Status != fact.BranchDiscarded || r.meta.Tx < b.ClosedTx {
		return err
	}
	e := NoBranch(b.Name)
	e.Message += " any more: it was discarded at tx " + strconv.FormatUint(b.ClosedTx, 10) + "; tx= or known_at= before that still read it"
	return e
}
