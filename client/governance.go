package client

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// Policy is who may do what in a tenant.
type Policy struct {
	Version *string      `json:"version"`
	Active  bool         `json:"active"` // there is a rule, so that what none grants is denied
	Rules   []PolicyRule `json:"rules"`
	Roles   []ActsAs     `json:"roles"`
	// Requires says what needs another agent's approval.
	Requires []Requirement `json:"requires"`
	Hints    []string      `json:"warnings"`
}

// Requirement is what a permission needs besides being granted.
type Requirement struct {
	Permission string   `json:"permission"`
	Approval   string   `json:"approval,omitempty"` // maker-checker
	Branches   []string `json:"branches,omitempty"` // none = any
	Broken     *string  `json:"broken,omitempty"`
	FactID     string   `json:"fact_id,omitempty"`
}

// PolicyRule is one fact of a policy.
type PolicyRule struct {
	Subject    string       `json:"subject"` // Role:… or Agent:…
	Effect     string       `json:"effect"`  // grant or deny
	Permission string       `json:"permission"`
	When       []PolicyWhen `json:"when"`   // any of them; none = always
	Broken     *string      `json:"broken"` // why it cannot be understood
	Source     *string      `json:"source"`
	FactID     string       `json:"fact_id"`
}

// PolicyWhen is one set of conditions, all of which must be met: names, or the
// beginning of one and a star; an empty list is any.
type PolicyWhen struct {
	Predicates []string `json:"predicates,omitempty"`
	Sources    []string `json:"sources,omitempty"`
	Branches   []string `json:"branches,omitempty"`
}

// ActsAs lets an agent, which is a key by its name, act as a role.
type ActsAs struct {
	Agent  string `json:"agent"`
	Role   string `json:"role"`
	FactID string `json:"fact_id,omitempty"`
}

// PolicyDocument is a whole policy, as PUT /api/policy takes it.
type PolicyDocument struct {
	Version string         `json:"version"`
	Rules   []DocumentRule `json:"rules"`
	Roles   []ActsAs       `json:"roles,omitempty"`
	// Requires holds requirements without Broken and FactID.
	Requires []Requirement `json:"requires,omitempty"`
}

// DocumentRule is one rule of a document: just one of Role and Agent is set.
type DocumentRule struct {
	Role        string   `json:"role,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Effect      string   `json:"effect,omitempty"` // "" = grant
	Permissions []string `json:"permissions"`
	PolicyWhen
}

// PolicySet is what came of a new policy.
type PolicySet struct {
	Version   string `json:"version"`
	Tx        uint64 `json:"tx"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Unchanged int    `json:"unchanged"`
	DryRun    bool   `json:"dry_run"`
}

// PolicyQuestion asks how a policy would decide. A nil Source is not asked for.
type PolicyQuestion struct {
	Principal  string          `json:"principal"` // the name of a key, or Role: and the name of a role
	Permission string          `json:"permission"`
	Predicate  string          `json:"predicate,omitempty"`
	Source     *string         `json:"source,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	KeyRole    string          `json:"key_role,omitempty"` // "" = as registered
	Policy     json.RawMessage `json:"policy,omitempty"`   // a document in place of the policy in force
}

// PolicyAnswer is how a policy decides, and the rule that does.
type PolicyAnswer struct {
	Allowed    bool         `json:"allowed"`
	Why        string       `json:"why"` // granted, denied, no_rule, no_policy or key_role
	Rule       *PolicyRule  `json:"rule"`
	Permission string       `json:"permission"`
	Agent      *string      `json:"agent"`
	KeyRole    *string      `json:"key_role"`
	Roles      []string     `json:"roles"`
	Version    *string      `json:"version"`
	Requires   *Requirement `json:"requires"`
}

// SecretRef is where a secret is kept.
type SecretRef struct {
	Name      string  `json:"name"`
	Tenant    *string `json:"tenant"`
	Reference *string `json:"reference"` // nil for all but the administrator
	CreatedAt int64   `json:"created_at"`
	Tx        uint64  `json:"tx"`
}

// NewAlert is an alert to make or to change.
type NewAlert struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"` // confidence, freshness, drift, contradictions or cost
	Threshold  float64 `json:"threshold"`
	WindowSecs int64   `json:"window_secs,omitempty"`
	Predicate  string  `json:"predicate,omitempty"`
	Source     string  `json:"source,omitempty"`
	Webhook    string  `json:"webhook,omitempty"`
	Secret     string  `json:"secret,omitempty"`
}

// Alert is a rule over the facts of a tenant, and what it says.
type Alert struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Threshold  float64  `json:"threshold"`
	WindowSecs *int64   `json:"window_secs"`
	Predicate  *string  `json:"predicate"`
	Source     *string  `json:"source"`
	Webhook    *string  `json:"webhook"`
	Secret     *string  `json:"secret"`
	State      *string  `json:"state"` // ok or firing; nil before the first look
	Value      *float64 `json:"value"`
	Since      *int64   `json:"since"`
	Told       bool     `json:"told"` // the webhook has taken the state
}

// Approval waits for the other admin key.
type Approval struct {
	ID        string `json:"id"`
	Action    string `json:"action"`
	By        string `json:"by"`
	ExpiresAt int64  `json:"expires_at"`
}

// Pending is the answer to what needs the other admin key too: nothing was done yet.
type Pending struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	Approval Approval `json:"approval"`
}

func (p *Pending) Error() string { return p.Status + ": " + p.Message }

// PendingIn returns what an answer says that waits for the other admin key, or nil.
func PendingIn(answer *Answer) *Pending {
	var p Pending
	if answer.Status != http.StatusAccepted || json.Unmarshal(answer.Body, &p) != nil || p.Approval.ID == "" {
		return nil
	}
	return &p
}

// Purged is what was erased, or would be.
type Purged struct {
	Facts   uint64 `json:"facts"`   // of a preview
	Deleted uint64 `json:"deleted"` // of a purge
	DryRun  bool   `json:"dry_run"`
}

// Where governance is read and written.
const (
	PolicyPath    = "/api/policy"
	SecretsPath   = "/api/secrets"
	AlertsPath    = "/api/alerts"
	TenantsPath   = "/api/tenants"
	ApprovalsPath = "/api/admin/approvals"
	PurgePath     = "/api/admin/purge"
)

// KeysPath is where the keys of a tenant are made and listed.
func KeysPath(tenant string) string { return TenantsPath + "/" + url.PathEscape(tenant) + "/keys" }
