package http

import (
	"net/http"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/rules"
)

// getPolicy is GET /api/policy: the rules of a tenant, at any point of both times.
func (s *Server) getPolicy(c *call) error {
	read := c.travel()
	if err := c.query.done(); err != nil {
		return err
	}
	set, meta, err := s.config.Memory.Policy(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := appendKnown(append(c.begin(), `{"version":`...), set.Version)
	b = jsonx.AppendBool(append(b, `,"active":`...), set.Active())
	b = append(b, `,"rules":[`...)
	for i := range set.Rules {
		b = appendRule(comma(b, i), &set.Rules[i])
	}
	b = append(b, `],"roles":[`...)
	for i, r := range set.Roles {
		b = jsonx.AppendString(append(comma(b, i), `{"agent":`...), strings.TrimPrefix(r.Agent, fact.PolicyAgent))
		b = jsonx.AppendString(append(b, `,"role":`...), strings.TrimPrefix(r.Role, fact.PolicyRole))
		b = append(jsonx.AppendID(append(b, `,"fact_id":`...), r.ID), '}')
	}
	b = append(b, `],"requires":[`...)
	for i := range set.Requires {
		b = appendRequirement(comma(b, i), &set.Requires[i])
	}
	return c.finish(http.StatusOK, append(c.warnField(append(b, ']')), '}'))
}

// appendRule appends a rule as it is in force; null where there is none.
func appendRule(b []byte, r *rules.Rule) []byte {
	if r == nil {
		return append(b, "null"...)
	}
	effect := "grant"
	if r.Deny {
		effect = "deny"
	}
	b = jsonx.AppendString(append(b, `{"subject":`...), r.Subject)
	b = jsonx.AppendString(append(b, `,"effect":`...), effect)
	b = jsonx.AppendString(append(b, `,"permission":`...), r.Permission)
	b = append(b, `,"when":[`...)
	for i := range r.When {
		b = r.When[i].Append(comma(b, i))
	}
	b = appendKnown(append(b, `],"broken":`...), r.Broken)
	b = appendOptional(append(b, `,"source":`...), r.Source)
	b = append(b, `,"fact_id":`...)
	if r.ID.IsZero() {
		return append(b, `null,"tx":null}`...)
	}
	return append(appendCount(jsonx.AppendID(b, r.ID), "tx", r.Tx), '}')
}

// appendRequirement appends what a permission needs besides being granted; null where
// that is nothing.
func appendRequirement(b []byte, r *rules.Requirement) []byte {
	if r == nil {
		return append(b, "null"...)
	}
	b = jsonx.AppendString(append(b, `{"permission":`...), r.Permission)
	b = append(b, `,"approval":"maker-checker","branches":`...)
	b = jsonx.AppendStrings(b, r.Branches)
	b = appendKnown(append(b, `,"broken":`...), r.Broken)
	b = appendOptional(append(b, `,"source":`...), r.Source)
	b = append(b, `,"fact_id":`...)
	if r.ID.IsZero() {
		return append(b, `null,"tx":null}`...)
	}
	return append(appendCount(jsonx.AppendID(b, r.ID), "tx", r.Tx), '}')
}

// putPolicy is PUT /api/policy: a whole new version, in one tx.
func (s *Server) putPolicy(c *call) error {
	if err := c.caller.Require(fact.RoleAdmin); err != nil {
		return err
	}
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	d, err := rules.ParseDocument(body, "")
	if err != nil {
		return err
	}
	dryRun, _ := c.query.flag("dry_run")
	o, err := c.withApproval(c.writeOptions)
	if err != nil {
		return err
	}
	done, result, err := s.config.Memory.SetPolicy(c.r.Context(), c.caller, o, d, dryRun, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	b := jsonx.AppendString(append(c.begin(), `{"version":`...), done.Version)
	b = appendCount(b, "tx", result.Tx)
	b = appendCount(b, "added", uint64(done.Added))
	b = appendCount(b, "removed", uint64(done.Removed))
	b = appendCount(b, "unchanged", uint64(done.Unchanged))
	b = jsonx.AppendBool(append(b, `,"dry_run":`...), done.DryRun)
	return c.finish(http.StatusOK, append(b, '}'))
}

// simulatePolicy is POST /api/policy/simulate.
func (s *Server) simulatePolicy(c *call) error {
	if err := c.caller.Require(fact.RoleAdmin); err != nil {
		return err
	}
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	q, err := simulation(body)
	if err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	answer, meta, err := s.config.Memory.Simulate(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := jsonx.AppendBool(append(c.begin(), `{"allowed":`...), answer.Allowed)
	b = jsonx.AppendString(append(b, `,"why":`...), answer.Why)
	b = appendRule(append(b, `,"rule":`...), answer.Rule)
	b = jsonx.AppendString(append(b, `,"permission":`...), q.Permission)
	b = appendKnown(append(b, `,"agent":`...), q.Agent)
	b = appendKnown(append(b, `,"key_role":`...), answer.KeyRole)
	b = jsonx.AppendStrings(append(b, `,"roles":`...), answer.Roles)
	b = appendKnown(append(b, `,"version":`...), answer.Version)
	b = appendRequirement(append(b, `,"requires":`...), answer.Requires)
	return c.finish(http.StatusOK, append(b, '}'))
}

// simulation reads the question. What is asked for may stand in resource, or beside
// the principal.
func simulation(body jsonx.Value) (*memory.Simulation, error) {
	f := jsonx.Open(body, "")
	q := &memory.Simulation{On: rules.Resource{Branch: fact.MainBranch}}
	principal, named := f.Text("principal")
	if agent, given := f.Text("agent"); given {
		principal, named = fact.PolicyAgent+strings.TrimPrefix(agent, fact.PolicyAgent), true
	}
	if !named || principal == "" {
		f.Fail(fact.Invalid("principal", "is required: the name of a key, or Role: and the name of a role"))
	}
	if strings.HasPrefix(principal, fact.PolicyRole) {
		q.Role = principal
	} else {
		q.Agent = strings.TrimPrefix(principal, fact.PolicyAgent)
	}
	if role, given := f.Text("key_role"); given {
		if _, err := fact.ParseRole("key_role", role); err != nil {
			f.Fail(err)
		}
		q.KeyRole = role
	}
	q.Permission = strings.TrimPrefix(f.Required("permission"), fact.PolicyPermission)
	if q.Permission != "" && (!rules.Known(q.Permission) || strings.HasSuffix(q.Permission, "*")) {
		f.Fail(fact.Invalid("permission", "must be one of "+strings.Join(rules.Permissions, ", ")))
	}
	on := f
	if v, given := f.Get("resource"); given {
		on = jsonx.Open(v, "resource")
	}
	resource(on, q)
	if v, given := f.Get("policy"); given {
		d, err := rules.ParseDocument(v, "policy")
		if err != nil {
			return nil, err
		}
		q.Document = d
	}
	if on != f {
		if err := on.Done(); err != nil {
			return nil, err
		}
	}
	return q, f.Done()
}

func resource(f *jsonx.Fields, q *memory.Simulation) {
	if text, given := f.Text("predicate"); given {
		text, err := memory.Name(f.Path("predicate"), text)
		if err != nil {
			f.Fail(err)
		}
		q.On.Predicate = &text
	}
	if text, given := f.Text("source"); given {
		q.On.Source, q.On.SourceKnown = &text, true
	}
	if text, given := f.Text("branch"); given {
		if _, err := memory.CheckBranch(text); err != nil {
			f.Fail(err)
		}
		q.On.Branch = text
	}
}
