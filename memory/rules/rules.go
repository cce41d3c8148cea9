package rules

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// The permissions that rules speak of. Those of a policy itself belong to keys of
// role admin and are granted to nobody else.
const (
	FactsRead     = "facts:read"
	FactsWrite    = "facts:write"
	BranchCreate  = "branch:create"
	BranchPromote = "branch:promote"
	BranchDiscard = "branch:discard"
)

// Permissions are all of them, in the order in which they are told.
var Permissions = []string{FactsRead, FactsWrite, BranchCreate, BranchPromote, BranchDiscard}

// Known reports whether a permission exists; a star at the end stands for all that
// begin so.
func Known(permission string) bool {
	begin, open := strings.CutSuffix(permission, "*")
	return slices.ContainsFunc(Permissions, func(p string) bool { return p == permission || open && strings.HasPrefix(p, begin) })
}

// When is one set of conditions: all of them must be met. No patterns for a field
// mean any; a pattern is a name, or its beginning and a star.
type When struct{ Predicates, Sources, Branches []string }

// Rule is one fact of a policy.
type Rule struct {
	ID         fact.ID
	Subject    string // Role:… or Agent:…
	Deny       bool
	Permission string
	When       []When // any of them; none = always
	Broken     string // why it cannot be understood, or ""
	Source     *string
	Tx         uint64
	RecordedAt fact.Instant
	from       fact.Instant
	until      fact.Instant
}

// Role is one fact that an agent acts as a role.
type Role struct {
	ID          fact.ID
	Agent, Role string // with their kinds: Agent:…, Role:…
	from, until fact.Instant
}

// Set is a tenant's policy.
type Set struct {
	Version string // of Policy:current, or ""
	Rules   []Rule // by subject, permission and id; denials first
	Roles   []Role // by agent, then role
	// Requires says which permissions need an approval too; by permission and id.
	Requires []Requirement
}

// Read makes a set of the active facts of a policy; others are passed over.
func Read(facts []fact.Fact) *Set {
	s := &Set{}
	for i := range facts {
		f := &facts[i]
		if f.Status != fact.Active || !fact.IsPolicy(f.Subject, f.Predicate) {
			continue
		}
		switch f.Predicate {
		case fact.PolicyVersion:
			s.Version = f.Object.Text
		case fact.PolicyActsAs:
			s.Roles = append(s.Roles, Role{ID: f.ID, Agent: f.Subject, Role: f.Object.Text, from: f.ValidFrom, until: f.ValidUntil})
		case fact.PolicyRequires:
			s.Requires = append(s.Requires, requirement(f))
		default:
			s.Rules = append(s.Rules, rule(f))
		}
	}
	slices.SortFunc(s.Rules, compareRules)
	slices.SortFunc(s.Requires, compareRequirements)
	slices.SortFunc(s.Roles, func(a, b Role) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Role, b.Role), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return s
}

func compareRules(a, b Rule) int {
	if a.Deny != b.Deny {
		if a.Deny {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Permission, b.Permission), bytes.Compare(a.ID[:], b.ID[:]))
}

func rule(f *fact.Fact) Rule {
	r := Rule{
		ID: f.ID, Subject: f.Subject, Deny: f.Predicate == fact.PolicyDenies, Source: f.Source, Tx: f.Tx, RecordedAt: f.RecordedAt,
		from: f.ValidFrom, until: f.ValidUntil,
	}
	permission, ok := strings.CutPrefix(f.Object.Text, fact.PolicyPermission)
	if f.Object.Kind != fact.Text || !ok || !Known(permission) {
		r.Broken = "its object is no permission"
		r.Permission = "*"
		return r
	}
	r.Permission = permission
	if len(f.Properties) > 0 {
		when, err := ParseWhen(f.Properties)
		if err != nil {
			r.Broken = err.Error()
		}
		r.When = when
	}
	return r
}

// ParseWhen reads conditions from a rule's properties: the fields of one set, or
// `when`, a list of sets. An unknown field is an error: a misspelt condition must
// not widen a rule.
func ParseWhen(properties []byte) ([]When, error) {
	v, err := jsonx.Parse(properties)
	if err != nil {
		return nil, err
	}
	f := jsonx.Open(v, "properties")
	list := f.Array("when")
	if list == nil {
		w := ReadWhen(f)
		if err := f.Done(); err != nil || w.any() {
			return nil, err
		}
		return []When{w}, nil
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	sets := make([]When, 0, len(list))
	for i := range list {
		one := jsonx.Open(list[i], jsonx.Index("properties.when", i))
		sets = append(sets, ReadWhen(one))
		if err := one.Done(); err != nil {
			return nil, err
		}
	}
	if len(sets) == 0 {
		return nil, fact.Invalid("properties.when", "must hold at least one set of conditions")
	}
	return sets, nil
}

// ReadWhen reads the fields of one set of conditions.
func ReadWhen(f *jsonx.Fields) When {
	return When{Predicates: patterns(f, "predicates"), Sources: patterns(f, "sources"), Branches: patterns(f, "branches")}
}

func (w *When) any() bool { return len(w.Predicates)+len(w.Sources)+len(w.Branches) == 0 }

// maxPatterns bounds the patterns of one condition.
const maxPatterns = 1_000

func patterns(f *jsonx.Fields, name string) []string {
	if _, given := f.Get(name); !given {
		return nil
	}
	list := f.Array(name)
	if len(list) == 0 || len(list) > maxPatterns {
		f.Fail(fact.Invalid(f.Path(name), "must hold 1 to 1,000 patterns; leave it out for any"))
	}
	out := make([]string, 0, len(list))
	for i := range list {
		text := list[i].Text
		if list[i].Kind != jsonx.String || text == "" || strings.Contains(strings.TrimSuffix(text, "*"), "*") {
			f.Fail(fact.Invalid(jsonx.Index(f.Path(name), i), "must be a name, or the beginning of one and a star"))
			return nil
		}
		out = append(out, text)
	}
	return out
}

func holds(from, until, now fact.Instant) bool { return from <= now && now < until }

// Active reports whether there is any rule, so that what none grants is denied.
// Rules of another time count too: a policy does not end by itself.
func (s *Set) Active() bool { return len(s.Rules) > 0 }
