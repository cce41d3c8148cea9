package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Tenant is a registered tenant.
type Tenant struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	QuotaFacts *int64 `json:"quota_facts"`
	CreatedAt  int64  `json:"created_at"`
	FactCount  uint64 `json:"fact_count"`
	// Key is the tenant's first key, shown once, when it is created (C-41).
	Key string `json:"key"`
}

// NewTenant is a tenant to register.
type NewTenant struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	QuotaFacts *int64 `json:"quota_facts,omitempty"`
	Role       string `json:"role,omitempty"` // of its first key; "" = write
}

// CreateTenant registers a tenant: POST /api/tenants.
func (c *Client) CreateTenant(ctx context.Context, t NewTenant) (*Tenant, error) {
	var created Tenant
	if err := c.post(ctx, "/api/tenants", t, &created); err != nil {
		return nil, err
	}
	return &created, nil
}

// Tenants lists tenants: GET /api/tenants.
func (c *Client) Tenants(ctx context.Context) ([]Tenant, error) {
	var list []Tenant
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/tenants"}, &list)
	return list, err
}

// Tenant reads one tenant: GET /api/tenants/:id.
func (c *Client) Tenant(ctx context.Context, id string) (*Tenant, error) {
	var t Tenant
	if _, err := c.into(ctx, Call{Method: http.MethodGet, Path: tenantPath(id)}, &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// DeleteTenant marks a tenant deleted: DELETE /api/tenants/:id. Its facts stay
// until they are purged. With two admin keys the first is answered *Pending, and the
// other gives the approval's id; else approval is "".
func (c *Client) DeleteTenant(ctx context.Context, id, approval string) error {
	query := make(url.Values)
	set(query, "approval", approval)
	_, err := c.into(ctx, Call{Method: http.MethodDelete, Path: tenantPath(id), Query: query}, &struct{}{})
	return err
}

// Key is an API key of a tenant, without the key itself.
type Key struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Role      string `json:"role"` // read, write or admin
	CreatedAt int64  `json:"created_at"`
	RevokedAt *int64 `json:"revoked_at"`
	// Secret is the key, shown once, when it is made (C-41).
	Secret string `json:"key"`
}

// NewKey is a key to make.
type NewKey struct {
	Name string `json:"name,omitempty"`
	Role string `json:"role,omitempty"`
	// Rotate revokes the tenant's other keys of that name and role.
	Rotate bool `json:"rotate,omitempty"`
}

// CreateKey makes a key: POST /api/tenants/:id/keys.
func (c *Client) CreateKey(ctx context.Context, tenant string, k NewKey) (*Key, error) {
	var created Key
	if err := c.post(ctx, tenantPath(tenant)+"/keys", k, &created); err != nil {
		return nil, err
	}
	return &created, nil
}

// Keys lists a tenant's keys: GET /api/tenants/:id/keys.
func (c *Client) Keys(ctx context.Context, tenant string) ([]Key, error) {
	var list []Key
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: tenantPath(tenant) + "/keys"}, &list)
	return list, err
}

// RevokeKey ends a key: DELETE /api/tenants/:id/keys/:key.
func (c *Client) RevokeKey(ctx context.Context, tenant, id string) error {
	_, err := c.Do(ctx, Call{Method: http.MethodDelete, Path: tenantPath(tenant) + "/keys/" + url.PathEscape(id)})
	return err
}

// PurgeTarget names what to erase: just one of Subject, Prefix and Kind, of one
// tenant or, where Tenant is "", of all (C-56).
type PurgeTarget struct {
	Subject string
	Prefix  string
	Kind    string
	Tenant  string
	// Approval is the id that the other of two admin keys was told.
	Approval string
}

// Values returns the query parameters.
func (p PurgeTarget) Values() url.Values {
	v := make(url.Values)
	set(v, "subject", p.Subject)
	set(v, "prefix", p.Prefix)
	set(v, "kind", p.Kind)
	set(v, "tenant", p.Tenant)
	set(v, "approval", p.Approval)
	return v
}

// PurgePreview counts the facts that a purge would erase: GET /api/admin/purge.
func (c *Client) PurgePreview(ctx context.Context, p PurgeTarget) (uint64, error) {
	var answer struct {
		Facts uint64 `json:"facts"`
	}
	_, err := c.into(ctx, Call{Method: http.MethodGet, Path: PurgePath, Query: p.Values()}, &answer)
	return answer.Facts, err
}

// Purge erases facts for good: POST /api/admin/purge?confirm=1. It returns how
// many there were; with two admin keys the first is answered *Pending.
func (c *Client) Purge(ctx context.Context, p PurgeTarget) (uint64, error) {
	query := p.Values()
	query.Set("confirm", "1")
	var done Purged
	_, err := c.into(ctx, Call{Method: http.MethodPost, Path: PurgePath, Query: query}, &done)
	return done.Deleted, err
}

func (c *Client) post(ctx context.Context, path string, body, to any) error {
	raw, err := marshal(body)
	if err != nil {
		return fmt.Errorf("write the body of POST %s: %w", path, err)
	}
	_, err = c.into(ctx, Call{Method: http.MethodPost, Path: path, Body: raw}, to)
	return err
}

func tenantPath(id string) string { return "/api/tenants/" + url.PathEscape(id) }
