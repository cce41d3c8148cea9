package memory

import (
	"strings"

	"abagraph/fact"
	"abagraph/internal/planted"
)

// Caller is who asks, as one surface has established. It is a value; a surface
// gets it from Service.Resolve.
type Caller struct {
	// Operator marks the admin key, and everyone while auth is off.
	Operator bool
	// Tenant is whose data the caller reads and writes. For an operator "" means
	// all of them on reads and the ownerless scope on writes (C-40).
	Tenant string
	// Role is what the caller may do there.
	Role fact.Role
	// Actor is the name of the key, for the record; never the key.
	Actor string

	key *resolved // the tenant's key, nil for an operator
	// deputy is the agent as which the server itself writes for a tenant.
	deputy string
}

// Deputy is the server itself, as it writes what a tenant's connector has fetched:
// under the tenant's policy as the agent of that name, of role write, so that who
// may set up a connector writes nothing through it that the policy holds back.
func (c Caller) Deputy(name string) Caller {
	c.deputy, c.Role = name, fact.RoleWrite
	return c
}

// In returns the caller with the tenant that tenant= names. Only an operator may
// name one: for a tenant's own key it is ignored, as documented (C-43).
func (c Caller) In(tenant string) (Caller, error) {
	if !c.Operator {
		return c, nil
	}
	if err := fact.CheckTenant("tenant", tenant); err != nil {
		return c, err
	}
	c.Tenant = tenant
	return c, nil
}

// Scope is what the caller's reads may see.
func (c Caller) Scope(branch string) fact.Scope {
	if branch == "" {
		branch = fact.MainBranch
	}
	return fact.Scope{Tenant: c.Tenant, All: c.Operator && c.Tenant == "" || planted.Bug == planted.ForgetTenant, Branch: branch}
}

// Require refuses a role that is too small.
func (c Caller) Require(role fact.Role) error {
	if c.Operator || c.Role >= role {
		return nil
	}
	return fact.Errorf(fact.Forbidden, "this needs a key of role %s, and yours has role %s", role, c.Role)
}

// RequireOperator refuses everyone but the operator.
func (c Caller) RequireOperator() error {
	if c.Operator {
		return nil
	}
	return fact.Errorf(fact.Forbidden, "this needs the admin key")
}

// namesTenant judges a tenant that a body names (C-40, C-43): a scoped caller's
// is ignored; an operator's must be the one that the request goes to anyway, so
// that nothing is filed silently under another. A fact of a branch names its owner
// as owner~branch.
func (c Caller) namesTenant(path, tenant string) error {
	owner, _, _ := strings.Cut(tenant, "~")
	if !c.Operator || owner == c.Tenant {
		return nil
	}
	return fact.Invalid(path, "is not the tenant of this request: name it with tenant= in the query, over MCP with namespace")
}
