package rules

import (
	"slices"

	"abagraph/fact"
)

// Who asks: an agent, by the name of its key, and the role of that key, which it
// acts as without being told so.
type Who struct {
	Agent string   // without its kind
	Role  string   // read, write or admin; "" = none
	As    []string // roles it acts as besides those that it was given, with their kind
}

// Resource is what is asked for. A nil predicate, and a source that is not known,
// stand for any: rules that ask for some of them grant, and deny nothing.
type Resource struct {
	Predicate   *string
	Source      *string
	SourceKnown bool
	Branch      string
}

// The words for why a decision came about.
const (
	NoPolicy = "no_policy"
	Granted  = "granted"
	Denied   = "denied"
	NoRule   = "no_rule"
)

// Decision says whether something is allowed, why, and by which rule.
type Decision struct {
	Allowed bool
	Why     string
	Rule    *Rule // nil for NoPolicy and NoRule
}

// subjects are those whose rules count for someone, roles included.
func (s *Set) subjects(who Who, now fact.Instant) []string {
	agent := fact.PolicyAgent + who.Agent
	list := []string{agent}
	if who.Role != "" {
		list = append(list, fact.PolicyRole+who.Role)
	}
	list = append(list, who.As...)
	for _, r := range s.Roles {
		if r.Agent == agent && holds(r.from, r.until, now) && !slices.Contains(list, r.Role) {
			list = append(list, r.Role)
		}
	}
	return list
}

// ActsAs lists the roles of someone.
func (s *Set) ActsAs(who Who, now fact.Instant) []string { return s.subjects(who, now)[1:] }

// Decide judges one request at an instant.
func (s *Set) Decide(who Who, permission string, on Resource, now fact.Instant) Decision {
	if !s.Active() {
		return Decision{Allowed: true, Why: NoPolicy}
	}
	subjects := s.subjects(who, now)
	for i := range s.Rules {
		r := &s.Rules[i]
		if !r.about(subjects, permission, now) || !r.meets(on) {
			continue
		}
		if r.Deny {
			return Decision{Why: Denied, Rule: r}
		}
		return Decision{Allowed: true, Why: Granted, Rule: r}
	}
	return Decision{Why: NoRule}
}

// about reports whether a rule is for one of the subjects, and of a permission.
func (r *Rule) about(subjects []string, permission string, now fact.Instant) bool {
	return holds(r.from, r.until, now) && slices.Contains(subjects, r.Subject) && covers(r.Permission, permission)
}

func (r *Rule) meets(on Resource) bool {
	if r.Broken != "" {
		return r.Deny
	}
	return len(r.When) == 0 || slices.ContainsFunc(r.When, func(w When) bool { return w.meets(on, r.Deny) })
}

func (w *When) meets(on Resource, deny bool) bool {
	field := func(patterns []string, known bool, name *string) bool {
		if !known && len(patterns) > 0 {
			return !deny
		}
		return fact.MatchesAny(patterns, name)
	}
	return field(w.Predicates, on.Predicate != nil, on.Predicate) && field(w.Sources, on.SourceKnown, on.Source) && fact.MatchesAny(w.Branches, &on.Branch)
}

// DecideRead judges a reading of the first branch, which shows what the others hold
// that it stands upon: what a rule denies on one of those is denied here too. A grant
// goes by the branch that is read.
func (s *Set) DecideRead(who Who, on Resource, branches []string, now fact.Instant) Decision {
	var d Decision
	for i, branch := range branches {
		on.Branch = branch
		switch one := s.Decide(who, FactsRead, on, now); {
		case one.Why == Denied:
			return one
		case i == 0:
			d = one
		}
	}
	return d
}

// Sight is what someone may read of the first branch, which stands upon the others: nil
// for everything. The decision is about reading at all.
func (s *Set) Sight(who Who, branches []string, now fact.Instant) (*fact.Sight, Decision) {
	d := s.DecideRead(who, Resource{}, branches, now)
	if !d.Allowed || !s.Active() {
		return nil, d
	}
	sight, open := &fact.Sight{}, false
	subjects := s.subjects(who, now)
	for i := range s.Rules {
		r := &s.Rules[i]
		if !r.about(subjects, FactsRead, now) {
			continue
		}
		if r.Deny {
			for _, branch := range branches {
				sight.Deny = append(sight.Deny, r.conditions(branch)...)
			}
			continue
		}
		for _, c := range r.conditions(branches[0]) {
			open = open || len(c.Predicates)+len(c.Sources) == 0
			sight.Allow = append(sight.Allow, c)
		}
	}
	if open && len(sight.Deny) == 0 {
		return nil, d
	}
	return sight, d
}

// conditions are what a rule asks of the facts of a branch.
func (r *Rule) conditions(branch string) []fact.Condition {
	if r.Broken != "" {
		if r.Deny {
			return []fact.Condition{{}}
		}
		return nil
	}
	if len(r.When) == 0 {
		return []fact.Condition{{}}
	}
	var list []fact.Condition
	for _, w := range r.When {
		if fact.MatchesAny(w.Branches, &branch) {
			list = append(list, fact.Condition{Predicates: w.Predicates, Sources: w.Sources})
		}
	}
	return list
}
