package rules

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Document is a whole policy as it is written and reviewed: a version, rules, which
// agent acts as which role, and what needs an approval.
type Document struct {
	Version  string
	Rules    []DocumentRule
	Roles    []DocumentRole
	Requires []DocumentRequirement
}

// DocumentRule grants or denies permissions to one role or agent, on one set of
// conditions.
type DocumentRule struct {
	Subject     string // with its kind
	Deny        bool
	Permissions []string
	When
}

// DocumentRole lets an agent act as a role; both with their kinds.
type DocumentRole struct{ Agent, Role string }

// maxDocument bounds the rules and the roles of one document.
const maxDocument = 1_000

// ParseDocument reads a document; path is the field that holds it, "" = the body.
func ParseDocument(v jsonx.Value, path string) (*Document, error) {
	f := jsonx.Open(v, path)
	d := &Document{Version: f.Required("version")}
	list, roles, requires := f.Array("rules"), f.Array("roles"), f.Array("requires")
	if d.Version == "" {
		f.Fail(fact.Invalid(f.Path("version"), "must not be empty"))
	}
	if err := fact.CheckSource(f.Path("version"), d.Version); err != nil {
		f.Fail(err)
	}
	if max(len(list), len(roles), len(requires)) > maxDocument {
		f.Fail(fact.Invalid(f.Path("rules"), "may hold at most 1,000 rules, as many roles and as many requirements"))
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	for i := range list {
		r, err := documentRule(list[i], jsonx.Index(f.Path("rules"), i))
		if err != nil {
			return nil, err
		}
		d.Rules = append(d.Rules, r)
	}
	for i := range roles {
		one := jsonx.Open(roles[i], jsonx.Index(f.Path("roles"), i))
		r := DocumentRole{Agent: named(one, "agent", fact.PolicyAgent), Role: named(one, "role", fact.PolicyRole)}
		if r.Agent == "" || r.Role == "" {
			one.Fail(fact.Invalid(one.Path("agent"), "is required, and so is role"))
		}
		if err := one.Done(); err != nil {
			return nil, err
		}
		d.Roles = append(d.Roles, r)
	}
	for i := range requires {
		r, err := documentRequirement(requires[i], jsonx.Index(f.Path("requires"), i))
		if err != nil {
			return nil, err
		}
		d.Requires = append(d.Requires, r)
	}
	return d, nil
}

// named reads the name of an agent or a role, with or without its kind.
func named(f *jsonx.Fields, field, kind string) string {
	text, given := f.Text(field)
	if !given {
		return ""
	}
	name := strings.TrimPrefix(text, kind)
	if err := fact.CheckName(f.Path(field), name); err != nil {
		f.Fail(err)
	}
	if err := fact.CheckName(f.Path(field), kind+name); err != nil {
		f.Fail(err)
	}
	return kind + name
}

func documentRule(v jsonx.Value, path string) (DocumentRule, error) {
	f := jsonx.Open(v, path)
	role, agent := named(f, "role", fact.PolicyRole), named(f, "agent", fact.PolicyAgent)
	if (role == "") == (agent == "") {
		f.Fail(fact.Invalid(f.Path("role"), "or agent is required, and not both"))
	}
	r := DocumentRule{Subject: role + agent, When: ReadWhen(f)}
	if effect, given := f.Text("effect"); given {
		switch effect {
		case "grant":
		case "deny":
			r.Deny = true
		default:
			f.Fail(fact.Invalid(f.Path("effect"), "must be grant or deny"))
		}
	}
	for i, p := range f.Array("permissions") {
		text := strings.TrimPrefix(p.Text, fact.PolicyPermission)
		if p.Kind != jsonx.String || !Known(text) {
			f.Fail(fact.Invalid(jsonx.Index(f.Path("permissions"), i), "must be one of "+strings.Join(Permissions, ", ")+", or the beginning of one and a star"))
		}
		r.Permissions = append(r.Permissions, text)
	}
	if len(r.Permissions) == 0 {
		f.Fail(fact.Invalid(f.Path("permissions"), "must name at least one permission"))
	}
	return r, f.Done()
}

// Asserts states the document as facts. Conditions of one subject, effect and
// permission are one fact, since the same statement is made but once.
func (d *Document) Asserts() []fact.Assert {
	var list []fact.Assert
	state := func(subject, predicate, object string, properties []byte) {
		source := d.Version
		list = append(list, fact.Assert{
			Subject: subject, Predicate: predicate, Object: fact.TextObject(object), Properties: properties, Source: &source, Policy: fact.Coexist,
			Confidence: 1, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
		})
	}
	type place struct {
		subject, permission string
		deny                bool
	}
	when := map[place][]When{}
	var order []place
	for _, r := range d.Rules {
		for _, permission := range r.Permissions {
			at := place{r.Subject, permission, r.Deny}
			if _, there := when[at]; !there {
				order = append(order, at)
			}
			when[at] = append(when[at], r.When)
		}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(a.permission, b.permission), cmp.Compare(effect(a.deny), effect(b.deny)))
	})
	for _, at := range order {
		state(at.subject, effect(at.deny), fact.PolicyPermission+at.permission, properties(when[at]))
	}
	roles := slices.Clone(d.Roles)
	slices.SortFunc(roles, func(a, b DocumentRole) int { return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Role, b.Role)) })
	for _, r := range slices.Compact(roles) {
		state(r.Agent, fact.PolicyActsAs, r.Role, nil)
	}
	for _, r := range d.requirements() {
		state(fact.PolicyPermission+r.Permission, fact.PolicyRequires, fact.PolicyApproval, requirementProperties(r.Branches))
	}
	return list
}

func effect(deny bool) string {
	if deny {
		return fact.PolicyDenies
	}
	return fact.PolicyGrants
}

// properties writes conditions as a rule's properties; nil where some set asks for
// nothing.
func properties(sets []When) []byte {
	if slices.ContainsFunc(sets, func(w When) bool { return w.any() }) {
		return nil
	}
	b := []byte(`{"when":[`)
	for i := range sets {
		if i > 0 {
			b = append(b, ',')
		}
		b = sets[i].Append(b)
	}
	return append(b, `]}`...)
}

// Append appends a set of conditions as JSON.
func (w *When) Append(b []byte) []byte {
	b = append(b, '{')
	for _, part := range [...]struct {
		name string
		list []string
	}{{"predicates", w.Predicates}, {"sources", w.Sources}, {"branches", w.Branches}} {
		if len(part.list) == 0 {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsonx.AppendString(b, part.name), ':')
		b = jsonx.AppendStrings(b, part.list)
	}
	return append(b, '}')
}

// Set is the policy that the document would be.
func (d *Document) Set() *Set {
	var facts []fact.Fact
	for _, a := range d.Asserts() {
		facts = append(facts, fact.Fact{
			Subject: a.Subject, Predicate: a.Predicate, Object: a.Object, Properties: a.Properties, Source: a.Source, Status: fact.Active,
			ValidFrom: fact.MinInstant, ValidUntil: fact.Forever,
		})
	}
	s := Read(facts)
	s.Version = d.Version
	return s
}

// Plan is the write that makes the facts of a policy those of the document: what
// differs is retracted and stated anew, in one tx, if the version is still what
// it was. Unchanged counts the facts that stay.
func (d *Document) Plan(now []fact.Fact) (w *fact.Write, unchanged int) {
	w = &fact.Write{}
	wanted := d.Asserts()
	guard := fact.Guard{Subject: fact.PolicyCurrent, Predicate: fact.PolicyVersion, Kind: fact.GuardAbsent}
	for i := range now {
		f := &now[i]
		if f.Predicate == fact.PolicyVersion {
			guard.Kind, guard.Object = fact.GuardExpect, f.Object
			continue
		}
		same := slices.IndexFunc(wanted, func(a fact.Assert) bool {
			return a.Subject == f.Subject && a.Predicate == f.Predicate && a.Object.Equal(f.Object) && fact.SameSource(a.Source, f.Source) && bytes.Equal(a.Properties, f.Properties)
		})
		if same < 0 {
			w.Retracts = append(w.Retracts, fact.Retract{ID: f.ID, KnownAt: fact.NoInstant})
			continue
		}
		wanted = slices.Delete(wanted, same, same+1)
		unchanged++
	}
	w.Guards, w.Asserts = []fact.Guard{guard}, wanted
	return w, unchanged
}
