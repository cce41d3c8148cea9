package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"abagraph/fact"
	"abagraph/memory/rules"
)

// A tenant's policy is judged here, at the one door, for every key of the tenant:
// for a read once its view is open, for a write before it is proposed. A decision
// goes by every change to the policy that was acknowledged before the request
// came, as the validity of a key does. The operator stands above it.

// maxPolicies bounds the policies that a node remembers between requests.
const maxPolicies = 4096

// maxPolicyFacts bounds the facts of one policy; a larger one cannot be judged by,
// and allows nothing.
const maxPolicyFacts = 10_000

// policyCache remembers policies by tenant.
type policyCache struct {
	mu   sync.Mutex
	sets map[string]knownPolicy
}

type knownPolicy struct {
	version uint64
	set     *rules.Set
}

func (p *policyCache) get(tenant string, version uint64) *rules.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.sets[tenant]; k.version == version {
		return k.set
	}
	return nil
}

func (p *policyCache) put(tenant string, version uint64, set *rules.Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sets == nil || len(p.sets) >= maxPolicies {
		p.sets = make(map[string]knownPolicy)
	}
	p.sets[tenant] = knownPolicy{version, set}
}

// governed reports whether a caller is under its tenant's policy.
func (c Caller) governed() bool { return c.key != nil || c.deputy != "" }

// who is the caller as a policy knows it.
func (c Caller) who() rules.Who {
	if c.deputy != "" {
		return rules.Who{Agent: normalise(c.deputy), Role: c.Role.String()}
	}
	name := strings.TrimPrefix(c.Actor, c.Tenant+"/")
	return rules.Who{Agent: normalise(name), Role: c.Role.String()}
}

// instant is the time by which rules hold.
func (s *Service) instant() fact.Instant {
	return max(fact.Instant(s.now().UnixMilli()), s.engine.Position().RecordedAt)
}

// policyOf returns a tenant's policy as the view shows it; without a view, one is
// opened where the policy is not remembered.
func (s *Service) policyOf(ctx context.Context, tenant string, view View) (*rules.Set, error) {
	version := s.policyVersion()
	if set := s.policies.get(tenant, version); set != nil {
		return set, nil
	}
	if view == nil {
		var err error
		if view, err = s.view(ctx); err != nil {
			return nil, fmt.Errorf("open a view: %w", err)
		}
		defer view.Close()
	}
	set, err := readPolicy(ctx, view, tenant, fact.Present(s.instant()))
	if err != nil {
		return nil, err
	}
	// The version was read first: at worst the view is newer, and the next
	// request reads again.
	s.policies.put(tenant, version, set)
	return set, nil
}

// readPolicy reads the facts of a policy, of whatever validity.
func readPolicy(ctx context.Context, view View, tenant string, at fact.At) (*rules.Set, error) {
	var facts []fact.Fact
	for _, predicate := range fact.PolicyPredicates() {
		q := &fact.Query{
			Scope: fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, Predicate: predicate, At: at,
			Statuses: fact.StatusSet(0).With(fact.Active), StatusGiven: true,
		}
		err := view.Each(ctx, q, func(f *fact.Fact) bool {
			if fact.IsPolicy(f.Subject, f.Predicate) {
				facts = append(facts, *f)
			}
			return len(facts) <= maxPolicyFacts
		})
		if err != nil {
			return nil, fmt.Errorf("read the policy: %w", err)
		}
	}
	if len(facts) > maxPolicyFacts {
		return nil, fact.Errorf(fact.Forbidden, "the policy has more than 10,000 facts, and allows nothing until it has fewer")
	}
	return rules.Read(facts), nil
}

// permit refuses a caller whom its policy does not grant a permission on a branch.
func (s *Service) permit(ctx context.Context, c Caller, permission, branch string) error {
	if !c.governed() {
		return nil
	}
	set, err := s.policyOf(ctx, c.Tenant, nil)
	if err != nil {
		return err
	}
	on := rules.Resource{Branch: branch}
	if d := set.Decide(c.who(), permission, on, s.instant()); !d.Allowed {
		return forbidden(permission, on, d)
	}
	return nil
}

// forbidden says what was not granted, in the words of the request.
func forbidden(permission string, on rules.Resource, d rules.Decision) *fact.Error {
	text := permission
	if on.Predicate != nil {
		text += " of predicate " + shorten(*on.Predicate)
	}
	if on.SourceKnown && on.Source != nil {
		text += " from source " + shorten(*on.Source)
	}
	text += " on branch " + on.Branch
	if d.Rule == nil {
		return fact.Errorf(fact.Forbidden, "no rule of the policy grants you %s", text)
	}
	return fact.Errorf(fact.Forbidden, "a rule of the policy denies you %s: fact %s", text, d.Rule.ID)
}

// authorise judges a request of a tenant's key by the tenant's policy.
func (s *Service) authorise(ctx context.Context, c Caller, o WriteOptions, r *fact.Request) error {
	if !c.governed() {
		return nil
	}
	switch {
	case r.Branching != nil:
		return s.permit(ctx, c, branchPermissions[r.Branching.Op], r.Branching.Name)
	case r.Write == nil:
		return nil
	}
	set, err := s.policyOf(ctx, c.Tenant, nil)
	if err != nil {
		return err
	}
	j := &ruling{s: s, ctx: ctx, caller: c, set: set, now: s.instant(), branch: r.Branch}
	if !o.OwnGuards {
		if err := j.guards(r.Write.Guards); err != nil {
			return err
		}
	}
	return j.write(r.Write)
}

// Unwritable says of each statement why the caller may not write it on a branch ("" =
// main), nil where it may: for who writes what somebody else has found, and rather
// leaves out a statement than all of them.
func (s *Service) Unwritable(ctx context.Context, c Caller, branch string, list []fact.Assert) ([]error, error) {
	refusals := make([]error, len(list))
	if !c.governed() {
		return refusals, nil
	}
	set, err := s.policyOf(ctx, c.Tenant, nil)
	if err != nil {
		return nil, err
	}
	j := &ruling{s: s, ctx: ctx, caller: c, set: set, now: s.instant(), branch: cmp.Or(branch, fact.MainBranch)}
	for i := range list {
		refusals[i] = j.row(list[i].Subject, list[i].Predicate, list[i].Source)
	}
	return refusals, nil
}

var branchPermissions = [...]string{
	fact.BranchCreate: rules.BranchCreate, fact.BranchPromote: rules.BranchPromote, fact.BranchDiscard: rules.BranchDiscard,
}

// ruling judges the rows of one write.
type ruling struct {
	s      *Service
	ctx    context.Context
	caller Caller
	set    *rules.Set
	now    fact.Instant
	branch string
}

// guards judges what a write compares: a guard that fails tells what holds.
func (j *ruling) guards(list []fact.Guard) error {
	if j.caller.deputy != "" {
		return nil // they are the server's own, and what they meet is told to nobody
	}
	for i := range list {
		g := &list[i]
		if fact.IsGoverned(g.Subject, g.Predicate) && j.caller.Role >= fact.RoleAdmin {
			continue
		}
		if err := j.allow(rules.FactsRead, rules.Resource{Predicate: &g.Predicate, Branch: j.branch}, true); err != nil {
			return inRows(err, "compares", i, len(list))
		}
	}
	return nil
}

func (j *ruling) write(w *fact.Write) error {
	if err := j.retracts(w.Retracts); err != nil {
		return err
	}
	for i := range w.Asserts {
		a := &w.Asserts[i]
		if j.caller.Role < fact.RoleAdmin && fact.SendsSecret(a.Subject, a.Predicate, a.Object) {
			return inRows(fact.Errorf(fact.Forbidden, "a connector that sends a secret needs a key of role admin"), "asserts", i, len(w.Asserts))
		}
		if err := j.row(a.Subject, a.Predicate, a.Source); err != nil {
			return inRows(err, "asserts", i, len(w.Asserts))
		}
	}
	return nil
}

// retracts judges by what is to be retracted; what does not exist is not judged.
func (j *ruling) retracts(list []fact.Retract) error {
	if len(list) == 0 || j.caller.Role >= fact.RoleAdmin && !j.set.Active() {
		return nil
	}
	view, err := j.s.view(j.ctx)
	if err != nil {
		return fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	scope := fact.Scope{Tenant: j.caller.Tenant, Branch: j.branch}
	for i := range list {
		f, err := view.Get(j.ctx, scope, list[i].ID, fact.Present(j.now))
		if err != nil {
			return fmt.Errorf("look at what is to be retracted: %w", err)
		}
		if f == nil {
			continue
		}
		if err := j.row(f.Subject, f.Predicate, f.Source); err != nil {
			return inRows(err, "retracts", i, len(list))
		}
	}
	return nil
}

// row judges one statement that is to be written or ended. What is part of the
// policy itself is for keys of role admin, whatever the policy says: so it can
// always be put right, and nobody grants anything to themselves.
func (j *ruling) row(subject, predicate string, source *string) error {
	if fact.IsGoverned(subject, predicate) {
		if j.caller.Role >= fact.RoleAdmin {
			return nil
		}
		return fact.Errorf(fact.Forbidden, "facts of %s with predicate %s steer the server: this needs a key of role admin", shorten(subject), predicate)
	}
	return j.allow(rules.FactsWrite, rules.Resource{Predicate: &predicate, Source: source, SourceKnown: true, Branch: j.branch}, false)
}

// allow judges one permission; whole is about reading, and asks for it whatever the
// source.
func (j *ruling) allow(permission string, on rules.Resource, whole bool) error {
	if !j.set.Active() {
		return nil
	}
	who := j.caller.who()
	if !whole {
		if d := j.set.Decide(who, permission, on, j.now); !d.Allowed {
			return forbidden(permission, on, d)
		}
		return nil
	}
	branches, err := j.s.lineage(j.ctx, j.caller.Tenant, j.set, nil, on.Branch)
	if err != nil {
		return err
	}
	if d := j.set.DecideRead(who, on, branches, j.now); !d.Allowed {
		return forbidden(permission, on, d)
	}
	if sight, _ := j.set.Sight(who, branches, j.now); sight.SeesAll(*on.Predicate) {
		return nil
	}
	return fact.Errorf(fact.Forbidden, "a guard tells what holds, and the policy lets you read predicate %s from some sources only", shorten(*on.Predicate))
}

// inRows names the row of a batch that an error is about.
func inRows(err error, list string, i, of int) error {
	var e *fact.Error
	if of == 1 || !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Field = fmt.Sprintf("%s[%d]", list, i)
	return &named
}
