package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/rules"
)

// world is a random policy, kept in the plainest form beside the facts that state it.
type world struct {
	facts []fact.Fact
	rules []plain
	roles map[string][]string
}

type plain struct {
	subject, permission string
	deny, broken        bool
	when                []map[string][]string
}

var (
	predicates = []string{"works_at", "salary", "salary_band", "notes"}
	sources    = []string{"hr", "crm", "crm:import"}
	branches   = []string{"main", "trial", "trial-2"}
	agents     = []string{"a", "b"}
	roleNames  = []string{"Role:analyst", "Role:writer", "Role:read"}
)

func random(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	w := &world{roles: map[string][]string{}}
	add := func(subject, predicate, object, properties string) {
		f := fact.Fact{ID: fact.NewID(fact.Instant(len(w.facts)), [10]byte{}), Subject: subject, Predicate: predicate, Object: fact.TextObject(object),
			Status: fact.Active, ValidFrom: 0, ValidUntil: fact.Forever}
		if properties != "" {
			f.Properties = []byte(properties)
		}
		w.facts = append(w.facts, f)
	}
	pick := func(list []string, stars ...string) []string {
		if r.IntN(3) == 0 {
			return nil
		}
		all := append(slices.Clone(list), stars...)
		return []string{all[r.IntN(len(all))], all[r.IntN(len(all))]}
	}
	for range r.IntN(7) {
		subject := append([]string{"Agent:a", "Agent:b"}, roleNames...)[r.IntN(5)]
		p := plain{subject: subject, deny: r.IntN(4) == 0, permission: []string{"facts:read", "facts:write", "facts:*", "*", "branch:promote"}[r.IntN(5)]}
		var sets []string
		for range r.IntN(3) {
			set := map[string][]string{"predicates": pick(predicates, "sal*"), "sources": pick(sources, "crm*", "*"), "branches": pick(branches, "trial*")}
			p.when = append(p.when, set)
			var parts []string
			for _, field := range []string{"predicates", "sources", "branches"} {
				if len(set[field]) > 0 {
					parts = append(parts, fmt.Sprintf(`%q:["%s"]`, field, strings.Join(set[field], `","`)))
				}
			}
			sets = append(sets, "{"+strings.Join(parts, ",")+"}")
		}
		properties := ""
		if len(sets) > 0 {
			properties = `{"when":[` + strings.Join(sets, ",") + `]}`
		}
		if r.IntN(12) == 0 {
			p.broken, properties = true, `{"predicate":["x"]}`
		}
		predicate := fact.PolicyGrants
		if p.deny {
			predicate = fact.PolicyDenies
		}
		add(subject, predicate, "Permission:"+p.permission, properties)
		w.rules = append(w.rules, p)
	}
	for _, agent := range agents {
		for _, role := range roleNames[:2] {
			if r.IntN(2) == 0 {
				add("Agent:"+agent, fact.PolicyActsAs, role, "")
				w.roles[agent] = append(w.roles[agent], role)
			}
		}
	}
	return w
}

// allowed is the rule of the documents in its plainest form: denied by what denies,
// else allowed by what grants, else denied, once there is any rule.
func (w *world) allowed(agent, keyRole, permission, predicate string, source *string, branch string) bool {
	granted := len(w.rules) == 0
	for _, p := range w.rules {
		mine := p.subject == "Agent:"+agent || p.subject == "Role:"+keyRole || slices.Contains(w.roles[agent], p.subject)
		if !mine || !like(p.permission, &permission) || p.broken && !p.deny {
			continue
		}
		met := len(p.when) == 0 || p.broken
		for _, set := range p.when {
			met = met || anyLike(set["predicates"], &predicate) && anyLike(set["sources"], source) && anyLike(set["branches"], &branch)
		}
		if met && p.deny {
			return false
		}
		granted = granted || met
	}
	return granted
}

func like(pattern string, name *string) bool {
	if pattern == "*" {
		return true
	}
	if name == nil {
		return false
	}
	if cut := len(pattern) - 1; pattern[cut] == '*' {
		return len(*name) >= cut && (*name)[:cut] == pattern[:cut]
	}
	return pattern == *name
}

func anyLike(patterns []string, name *string) bool {
	met := len(patterns) == 0
	for _, p := range patterns {
		met = met || like(p, name)
	}
	return met
}

// TestDecisionsByReference: every decision is the one of the plain rule, and what
// may be seen of a branch is exactly what reading each fact of it is allowed.
func TestDecisionsByReference(t *testing.T) {
	none := "none"
	for seed := range uint64(400) {
		w := random(seed)
		set := rules.Read(w.facts)
		for _, agent := range agents {
			for _, keyRole := range []string{"read", "write"} {
				who := rules.Who{Agent: agent, Role: keyRole}
				for _, branch := range branches {
					sight, read := set.Sight(who, []string{branch}, 5)
					for _, predicate := range predicates {
						for _, source := range []*string{nil, &sources[0], &sources[1], &sources[2], &none} {
							on := rules.Resource{Predicate: &predicate, Source: source, SourceKnown: true, Branch: branch}
							for _, permission := range []string{rules.FactsRead, rules.FactsWrite} {
								d := set.Decide(who, permission, on, 5)
								if want := w.allowed(agent, keyRole, permission, predicate, source, branch); d.Allowed != want {
									t.Fatalf("seed %d: %v on %+v: %+v, want %v", seed, permission, on, d, want)
								}
								if d.Why == rules.Granted && (d.Rule == nil || d.Rule.Deny) || d.Why == rules.Denied && (d.Rule == nil || !d.Rule.Deny) || (d.Why == rules.NoRule || d.Why == rules.NoPolicy) && d.Rule != nil {
									t.Fatalf("seed %d: %s by rule %+v", seed, d.Why, d.Rule)
								}
							}
							sees := read.Allowed && sight.Sees(&fact.Fact{Predicate: predicate, Source: source})
							if want := w.allowed(agent, keyRole, rules.FactsRead, predicate, source, branch); sees != want {
								t.Fatalf("seed %d: sees %v from %v on %s: %v, want %v", seed, predicate, source, branch, sees, want)
							}
							if !sees && sight.SeesAll(predicate) && read.Allowed {
								t.Fatalf("seed %d: all of %s is seen, and this is not", seed, predicate)
							}
						}
					}
				}
			}
		}
	}
}

// TestRulesHoldInTheirTime: a rule that is over, or not yet, decides nothing; but a
// policy does not end by itself.
func TestRulesHoldInTheirTime(t *testing.T) {
	set := rules.Read([]fact.Fact{
		{Subject: "Agent:a", Predicate: fact.PolicyGrants, Object: fact.TextObject("Permission:facts:read"), Status: fact.Active, ValidFrom: 10, ValidUntil: 20},
		{Subject: "Agent:b", Predicate: fact.PolicyGrants, Object: fact.TextObject("Permission:facts:read"), Status: fact.Candidate, ValidFrom: 0, ValidUntil: fact.Forever},
		{Subject: "Person:x", Predicate: fact.PolicyGrants, Object: fact.TextObject("Permission:*"), Status: fact.Active, ValidFrom: 0, ValidUntil: fact.Forever},
	})
	for at, want := range map[fact.Instant]bool{9: false, 10: true, 19: true, 20: false} {
		if d := set.Decide(rules.Who{Agent: "a"}, rules.FactsRead, rules.Resource{Branch: "main"}, at); d.Allowed != want {
			t.Errorf("at %d: %+v", at, d)
		}
	}
	if d := set.Decide(rules.Who{Agent: "b"}, rules.FactsRead, rules.Resource{Branch: "main"}, 10); d.Allowed {
		t.Error("a candidate grants")
	}
	if len(set.Rules) != 1 || !set.Active() {
		t.Errorf("%+v", set)
	}
}

// TestDocuments: a document becomes facts that read as the same policy, and a plan
// changes only what differs.
func TestDocuments(t *testing.T) {
	parse := func(text string) (*rules.Document, error) {
		v, err := jsonx.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return rules.ParseDocument(v, "")
	}
	d, err := parse(`{"version":"v7","rules":[{"role":"analyst","permissions":["facts:read"],"predicates":["works_at"]},
		{"role":"Role:analyst","permissions":["facts:read","facts:write"],"sources":["crm*"],"branches":["trial"]},
		{"agent":"a","effect":"deny","permissions":["facts:*"],"predicates":["salary*"]}],"roles":[{"agent":"a","role":"analyst"},{"agent":"Agent:a","role":"analyst"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var facts []fact.Fact
	for _, a := range d.Asserts() {
		facts = append(facts, fact.Fact{Subject: a.Subject, Predicate: a.Predicate, Object: a.Object, Properties: a.Properties, Source: a.Source, Status: fact.Active, ValidUntil: fact.Forever})
	}
	if len(facts) != 4 || fmt.Sprint(rules.Read(facts).Rules[1].When) != "[{[works_at] [] []} {[] [crm*] [trial]}]" {
		t.Errorf("%+v", facts)
	}
	if w, unchanged := d.Plan(facts); len(w.Asserts)+len(w.Retracts) != 0 || unchanged != 4 || w.Guards[0].Kind != fact.GuardAbsent {
		t.Errorf("the same again: %+v, %d", w, unchanged)
	}
	for text, field := range map[string]string{
		`{"rules":[]}`: "version", `{"version":""}`: "version", `{"version":"v","rule":[]}`: "rule", `{"version":"v","rules":[{"permissions":["facts:read"]}]}`: "rules[0].role",
		`{"version":"v","rules":[{"role":"a","agent":"b","permissions":["facts:read"]}]}`:          "rules[0].role",
		`{"version":"v","rules":[{"role":"a","permissions":["facts:fly"]}]}`:                       "rules[0].permissions[0]",
		`{"version":"v","rules":[{"role":"a","permissions":[]}]}`:                                  "rules[0].permissions",
		`{"version":"v","rules":[{"role":"a","permissions":["facts:read"],"predicate":["x"]}]}`:    "rules[0].predicate",
		`{"version":"v","rules":[{"role":"a","permissions":["facts:read"],"predicates":[]}]}`:      "rules[0].predicates",
		`{"version":"v","rules":[{"role":"a","permissions":["facts:read"],"predicates":["a*b"]}]}`: "rules[0].predicates[0]",
		`{"version":"v","rules":[{"role":"a","permissions":["facts:read"],"effect":"allow"}]}`:     "rules[0].effect",
		`{"version":"v","roles":[{"agent":"a"}]}`:                                                  "roles[0].agent",
	} {
		_, err := parse(text)
		if e, ok := err.(*fact.Error); !ok || e.Code != fact.SchemaInvalid || e.Field != field {
			t.Errorf("%s: %v", text, err)
		}
	}
}
