package fact

import (
	"slices"
	"strings"
)

// The subjects and predicates of a tenant's policy. Facts of these shapes, on the
// main branch, say who may do what; on any branch they need the right to change
// the policy.
const (
	PolicyRole       = "Role:"
	PolicyAgent      = "Agent:"
	PolicyPermission = "Permission:"
	PolicyCurrent    = "Policy:current"
	// PolicyApproval is what a permission may require: a second agent that says yes.
	PolicyApproval     = PolicyApprovalKind + "maker-checker"
	PolicyApprovalKind = "Approval:"
)

// The predicates of a policy: a role or an agent grants or denies a permission, an
// agent acts as a role, a permission requires an approval, and the policy has a
// version.
const (
	PolicyGrants   = "grants"
	PolicyDenies   = "denies"
	PolicyActsAs   = "acts_as"
	PolicyRequires = "requires"
	PolicyVersion  = "version"
)

// PolicyPredicates are all predicates of a policy.
func PolicyPredicates() []string {
	return []string{PolicyGrants, PolicyDenies, PolicyActsAs, PolicyRequires, PolicyVersion}
}

// IsPolicy reports whether facts of a subject and predicate are part of a policy.
func IsPolicy(subject, predicate string) bool {
	switch predicate {
	case PolicyGrants, PolicyDenies:
		return strings.HasPrefix(subject, PolicyRole) || strings.HasPrefix(subject, PolicyAgent)
	case PolicyActsAs:
		return strings.HasPrefix(subject, PolicyAgent)
	case PolicyRequires:
		return strings.HasPrefix(subject, PolicyPermission)
	case PolicyVersion:
		return subject == PolicyCurrent
	}
	return false
}

// Sight is which facts a reader may see: those that some of Allow lets through and
// none of Deny holds back.
type Sight struct{ Allow, Deny []Condition }

// Condition is met by facts of one of the predicates and one of the sources. A
// pattern is a name, or its beginning and a star; no patterns at all let every
// one pass. A fact without a source meets only a star.
type Condition struct{ Predicates, Sources []string }

// Sees reports whether a fact may be seen.
func (s *Sight) Sees(f *Fact) bool {
	if s == nil {
		return true
	}
	for i := range s.Deny {
		if s.Deny[i].Meets(f.Predicate, f.Source) {
			return false
		}
	}
	for i := range s.Allow {
		if s.Allow[i].Meets(f.Predicate, f.Source) {
			return true
		}
	}
	return false
}

// SeesAll reports whether every fact of a predicate may be seen, whatever its
// source.
func (s *Sight) SeesAll(predicate string) bool {
	if s == nil {
		return true
	}
	for i := range s.Deny {
		if MatchesAny(s.Deny[i].Predicates, &predicate) {
			return false
		}
	}
	return slices.ContainsFunc(s.Allow, func(c Condition) bool {
		return MatchesAny(c.Predicates, &predicate) && MatchesAny(c.Sources, nil)
	})
}

// Filter leaves out the facts that may not be seen. It changes the list.
func (s *Sight) Filter(facts []Fact) []Fact {
	if s == nil {
		return facts
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return !s.Sees(&f) })
}

// Meets reports whether a predicate and a source meet the condition.
func (c *Condition) Meets(predicate string, source *string) bool {
	return MatchesAny(c.Predicates, &predicate) && MatchesAny(c.Sources, source)
}

// MatchesAny reports whether a name matches one of the patterns, or there are none.
func MatchesAny(patterns []string, name *string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		begin, open := strings.CutSuffix(p, "*")
		switch {
		case p == "*":
			return true
		case name == nil:
		case open && strings.HasPrefix(*name, begin), !open && *name == p:
			return true
		}
	}
	return false
}
