package memory

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/mask"
	"abagraph/memory/rules"
)

// SetPolicy is what came of a new policy.
type SetPolicy struct {
	Version   string
	Added     int
	Removed   int
	Unchanged int
	DryRun    bool
}

// Policy returns the policy of the caller's tenant, at any point of both times.
func (s *Service) Policy(ctx context.Context, c Caller, read Read, trace *Trace) (*rules.Set, Meta, error) {
	r, facts, err := s.policyFacts(ctx, c, read, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	set := rules.Read(facts)
	trace.Step("execute", "by_predicate")
	trace.Name("policy", "pick by_predicate index")
	trace.Int("rules", len(set.Rules))
	return set, r.meta, nil
}

// policyFacts reads the facts of a policy as they hold at the point that is read.
func (s *Service) policyFacts(ctx context.Context, c Caller, read Read, trace *Trace) (*reading, []fact.Fact, error) {
	if err := c.mayRule(read.Branch); err != nil {
		return nil, nil, err
	}
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, nil, err
	}
	var facts []fact.Fact
	for _, predicate := range fact.PolicyPredicates() {
		q := &fact.Query{Scope: fact.Scope{Tenant: c.Tenant, Branch: fact.MainBranch}, Predicate: predicate, At: r.at}
		err := r.view.Each(r.ctx, q, func(f *fact.Fact) bool {
			if fact.IsPolicy(f.Subject, f.Predicate) && (f.Status == fact.Active || r.at.AsOf.Given()) {
				own := *f
				own.Status = fact.Active // it was in force then
				facts = append(facts, own)
			}
			return len(facts) <= maxPolicyFacts
		})
		if err != nil {
			r.close()
			return nil, nil, fmt.Errorf("read the policy: %w", err)
		}
	}
	return r, facts, nil
}

// mayRule refuses who may not see and change a policy, and where there is none.
func (c Caller) mayRule(branch string) error {
	if err := c.Require(fact.RoleAdmin); err != nil {
		return err
	}
	if branch != "" && branch != fact.MainBranch {
		return fact.Invalid("branch", "cannot be named here: a policy is of the main branch")
	}
	if c.Tenant == "" {
		return fact.Invalid("tenant", "is required here: a policy is a tenant's")
	}
	return nil
}

// SetPolicy makes a document the whole policy of the caller's tenant, in one tx. A
// dry run tells what would change.
func (s *Service) SetPolicy(ctx context.Context, c Caller, o WriteOptions, d *rules.Document, dryRun bool, trace *Trace) (*SetPolicy, *fact.Result, error) {
	if err := c.mayRule(o.Branch); err != nil {
		return nil, nil, err
	}
	r, facts, err := s.policyFacts(ctx, c, NewRead(), trace)
	if err != nil {
		return nil, nil, err
	}
	tx := r.meta.Tx
	r.close()
	w, unchanged := d.Plan(facts)
	done := &SetPolicy{Version: d.Version, Added: len(w.Asserts), Removed: len(w.Retracts), Unchanged: unchanged, DryRun: dryRun}
	trace.Name("set_policy", "guard of the version → retracts → asserts, in one tx")
	current := ""
	if w.Guards[0].Kind == fact.GuardExpect {
		current = w.Guards[0].Object.Text
	}
	changes := done.Added + done.Removed
	if current == d.Version && !dryRun {
		if result, err := s.Repeated(ctx, c, o, fact.PolicyCurrent, fact.PolicyVersion); result != nil || err != nil {
			return done.again(d, result), result, err
		}
	}
	if changes > 0 && current == d.Version {
		return nil, nil, fact.Invalid("version", "is the one that is in force, with other rules: a change needs a version of its own")
	} else if dryRun || changes == 0 && current == d.Version {
		return done, &fact.Result{Tx: tx, RecordedAt: s.instant()}, nil
	}
	source := d.Version
	w.Asserts = append(w.Asserts, fact.Assert{
		Subject: fact.PolicyCurrent, Predicate: fact.PolicyVersion, Object: fact.TextObject(d.Version), Source: &source, Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	})
	o.Mask = mask.Off
	if !c.governed() {
		if err := s.approve(ctx, c, &o, "policy.set", policyWords(c.Tenant, d)); err != nil {
			return nil, nil, err
		}
		o.own = true
	}
	result, err := s.Transact(ctx, c, o, w, trace)
	if overtaken(err) {
		err = fact.Errorf(fact.Conflict, "the policy was changed by another meanwhile: look at it, and try again")
	}
	return done.again(d, result), result, err
}

// again tells of a repeated request what the first one did (C-31).
func (p *SetPolicy) again(d *rules.Document, result *fact.Result) *SetPolicy {
	if result == nil || !result.Replayed || result.Err != nil {
		return p
	}
	p.Added, p.Removed = 0, len(result.RetractedIDs)
	for i := range result.Asserts {
		if result.Asserts[i].Fact.Predicate != fact.PolicyVersion {
			p.Added++
		}
	}
	p.Unchanged = len(d.Asserts()) - p.Added
	return p
}

// policyWords are all that the approval of a policy is for.
func policyWords(tenant string, d *rules.Document) string {
	words := fmt.Sprintf("%q %q", tenant, d.Version)
	for _, a := range d.Asserts() {
		words += fmt.Sprintf(" %q %q %q %q", a.Subject, a.Predicate, a.Object.Text, a.Properties)
	}
	return words
}

// policyByHand refuses an administrator who changes a policy fact by fact where that
// takes two.
func (s *Service) policyByHand(ctx context.Context, c Caller, o WriteOptions, r *fact.Request) error {
	if !s.twoAdmins || c.governed() || o.own || r.Write == nil || r.Tenant == "" {
		return nil
	}
	refused := fact.Errorf(fact.Forbidden, "with two admin keys a policy is changed by both, with PUT /api/policy")
	if slices.ContainsFunc(r.Write.Asserts, func(a fact.Assert) bool { return fact.IsPolicy(a.Subject, a.Predicate) }) {
		return refused
	}
	if len(r.Write.Retracts) == 0 {
		return nil
	}
	view, err := s.view(ctx)
	if err != nil {
		return fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	for _, row := range r.Write.Retracts {
		f, err := view.Get(ctx, fact.Scope{Tenant: r.Tenant, Branch: r.Branch}, row.ID, fact.Present(s.instant()))
		if err != nil {
			return fmt.Errorf("look at what is to be retracted: %w", err)
		}
		if f != nil && fact.IsPolicy(f.Subject, f.Predicate) {
			return refused
		}
	}
	return nil
}

// Simulation is a question to a policy.
type Simulation struct {
	Agent      string // the name of a key, or
	Role       string // a role alone, with its kind
	KeyRole    string // what the key's role is; "" = as registered
	Permission string
	On         rules.Resource
	// Document is judged in place of the policy that is in force; nil = that one.
	Document *rules.Document
}

// Simulated is the answer, with what it went by.
type Simulated struct {
	rules.Decision
	Roles   []string
	KeyRole string
	Version string
	// Requires is what an allowed request needs besides, or nil.
	Requires *rules.Requirement
}

// KeyRoleTooSmall is why something is refused that no rule can grant.
const KeyRoleTooSmall = "key_role"

// Simulate says how a policy would decide, and by which rule.
func (s *Service) Simulate(ctx context.Context, c Caller, q *Simulation, trace *Trace) (*Simulated, Meta, error) {
	r, facts, err := s.policyFacts(ctx, c, NewRead(), trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	set := rules.Read(facts)
	if q.Document != nil {
		set = q.Document.Set()
	}
	who := rules.Who{Agent: q.Agent, Role: q.KeyRole}
	if q.Role != "" {
		who.As = []string{q.Role}
	}
	if who.Role == "" && q.Agent != "" {
		if who.Role, err = r.roleOf(c.Tenant, q.Agent); err != nil {
			return nil, r.meta, err
		}
	}
	now := s.instant()
	decision := set.Decide(who, q.Permission, q.On, now)
	if q.Permission == rules.FactsRead {
		branches, err := s.lineage(ctx, c.Tenant, set, r.view, q.On.Branch)
		if err != nil {
			return nil, r.meta, err
		}
		decision = set.DecideRead(who, q.On, branches, now)
	}
	answer := &Simulated{Decision: decision, Roles: set.ActsAs(who, now), KeyRole: who.Role, Version: set.Version}
	if q.Permission != rules.FactsRead && who.Role == fact.RoleRead.String() {
		answer.Decision = rules.Decision{Why: KeyRoleTooSmall}
	}
	if answer.Allowed {
		answer.Requires = set.NeedsApproval(q.Permission, q.On.Branch, now)
	}
	trace.Step("execute", "by_predicate")
	trace.Name("simulate_policy", "denials → grants → deny")
	trace.Int("rules", len(set.Rules))
	return answer, r.meta, nil
}

// roleOf is the greatest role of the valid keys of a name, "" where there is none.
func (r *reading) roleOf(tenant, name string) (string, error) {
	keys, err := r.view.Keys(r.ctx, tenant)
	if err != nil {
		return "", fmt.Errorf("list keys: %w", err)
	}
	var role fact.Role
	for i := range keys {
		if k := &keys[i]; normalise(k.Name) == name && !k.RevokedAt.Given() {
			role = max(role, k.Role)
		}
	}
	return role.String(), nil
}
