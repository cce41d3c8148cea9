package memory

import (
	"strings"

	"abagraph/fact"
	"abagraph/memory/rules"
)

// checkShapes refuses statements that mean something to the server, and that would
// mean something else than their writer thinks: what is kept in the ownerless scope
// is made by its own routes alone, or one admin could write the other's approval;
// and rules of a policy stand side by side and do not expire into nothing.
func checkShapes(o WriteOptions, r *fact.Request) error {
	if r.Write == nil || o.own {
		return nil
	}
	for i := range r.Write.Asserts {
		a := &r.Write.Asserts[i]
		if err := checkShape(r.Tenant, a); err != nil {
			return inRows(err, "asserts", i, len(r.Write.Asserts))
		}
	}
	return nil
}

func checkShape(tenant string, a *fact.Assert) error {
	if tenant == "" {
		switch {
		case a.Predicate == approvalPredicate && strings.HasPrefix(a.Subject, approvalKind):
			return fact.Errorf(fact.Forbidden, "approvals are made by the requests that need them only")
		case a.Predicate == secretPredicate && strings.HasPrefix(a.Subject, secretKind):
			return fact.Errorf(fact.Forbidden, "references to secrets are made by /api/secrets only")
		}
		return nil
	}
	if !fact.IsPolicy(a.Subject, a.Predicate) {
		return nil
	}
	if a.Transient {
		return fact.Invalid("transient", "must not be set for a fact of the policy: once it was deleted, the others would count alone")
	}
	if a.Predicate == fact.PolicyRequires {
		if _, err := rules.CheckRequirement(a.Subject, a.Object, a.Properties); err != nil {
			return err
		}
	}
	if a.Predicate != fact.PolicyVersion && a.Policy != fact.Coexist {
		return fact.Invalid("policy", "must be coexist for a fact of the policy: another policy would close the rules that stand beside it; PUT /api/policy writes all of them")
	}
	return nil
}
