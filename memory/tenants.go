package memory

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"abagraph/fact"
)

// maxLabelBytes bounds the name of a tenant or key.
const maxLabelBytes = 256

// keyPrefix marks our keys, so that a leaked one can be recognised.
const keyPrefix = "aba_"

// NewTenant registers a tenant.
type NewTenant struct {
	ID    string
	Name  string
	Quota int64 // soft, for information; 0 = none
	Role  fact.Role
}

// NewKey is a key to be made.
type NewKey struct {
	Name string
	Role fact.Role
	// Rotate revokes the tenant's other keys of the same name and role in the
	// same tx.
	Rotate bool
}

// TenantRow is a tenant with the number of its facts that hold.
type TenantRow struct {
	fact.TenantRecord
	FactCount uint64
}

// CreateTenant registers a tenant and makes its first key. The secret is
// returned this once; it is "" where an earlier outcome of the same
// Idempotency-Key is answered again.
func (s *Service) CreateTenant(ctx context.Context, c Caller, o WriteOptions, t NewTenant, trace *Trace) (*fact.Result, string, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, "", err
	}
	if err := fact.CheckTenant("id", t.ID); err != nil {
		return nil, "", err
	}
	if err := checkLabel("name", t.Name); err != nil {
		return nil, "", err
	}
	secret, key := s.newKey(t.ID, NewKey{Name: DefaultKeyName, Role: t.Role})
	change := &fact.TenantChange{Op: fact.TenantCreate, ID: t.ID, Name: t.Name, Quota: t.Quota, Key: key}
	return s.change(ctx, c, o, change, secret, trace)
}

// DeleteTenant marks a tenant as deleted; its facts stay until they are purged.
func (s *Service) DeleteTenant(ctx context.Context, c Caller, o WriteOptions, id string, trace *Trace) (*fact.Result, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	if fact.CheckTenant("id", id) != nil {
		return nil, NoTenant(id)
	}
	if err := s.approve(ctx, c, &o, "tenant.delete", id); err != nil {
		return nil, err
	}
	result, _, err := s.change(ctx, c, o, &fact.TenantChange{Op: fact.TenantDelete, ID: id}, "", trace)
	return result, err
}

// DefaultKeyName names a key that was given no name.
const DefaultKeyName = "default"

// CreateKey makes a key of a tenant, or rotates one. The secret is returned
// this once.
func (s *Service) CreateKey(ctx context.Context, c Caller, o WriteOptions, tenant string, k NewKey, trace *Trace) (*fact.Result, string, error) {
	if err := c.mayManage(tenant); err != nil {
		return nil, "", err
	}
	if fact.CheckTenant("id", tenant) != nil {
		return nil, "", NoTenant(tenant)
	}
	if k.Name == "" {
		k.Name = DefaultKeyName
	}
	if err := checkLabel("name", k.Name); err != nil {
		return nil, "", err
	}
	secret, key := s.newKey(tenant, k)
	change := &fact.TenantChange{Op: fact.KeyAdd, ID: tenant, Key: key, RevokeOthers: k.Rotate}
	return s.change(ctx, c, o, change, secret, trace)
}

// RevokeKey ends a key, and every session that carries it, at once.
func (s *Service) RevokeKey(ctx context.Context, c Caller, o WriteOptions, tenant, key string, trace *Trace) (*fact.Result, error) {
	if err := c.mayManage(tenant); err != nil {
		return nil, err
	}
	if fact.CheckTenant("id", tenant) != nil {
		return nil, NoTenant(tenant)
	}
	change := &fact.TenantChange{Op: fact.KeyRevoke, ID: tenant, KeyID: key}
	result, _, err := s.change(ctx, c, o, change, "", trace)
	return result, err
}

// mayManage lets the operator manage every tenant's keys, and a tenant's admin
// its own.
func (c Caller) mayManage(tenant string) error {
	if c.Operator || c.Role >= fact.RoleAdmin && c.Tenant == tenant {
		return nil
	}
	return fact.Errorf(fact.Forbidden, "this needs the admin key")
}

func (s *Service) change(ctx context.Context, c Caller, o WriteOptions, change *fact.TenantChange, secret string, trace *Trace) (*fact.Result, string, error) {
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, "", fact.Invalid("branch", "cannot be named here: tenants and keys have no branches")
	}
	r := fact.Request{Tenant: c.Tenant, Branch: fact.MainBranch, Registry: change}
	result, err := s.propose(ctx, c, o, &r, trace)
	if err != nil {
		return result, "", err
	}
	trace.Name("change_tenants", "registry")
	if result.Replayed {
		secret = ""
	}
	return result, secret, nil
}

func (s *Service) newKey(tenant string, k NewKey) (string, *fact.Key) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails: the runtime stops the process rather
	secret := keyPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	return secret, &fact.Key{
		ID: s.newID().String(), Name: k.Name, Role: k.Role, Hash: sha256.Sum256([]byte(secret)),
		Tenant: tenant, RevokedAt: fact.NoInstant,
	}
}

func checkLabel(field, text string) error {
	if len(text) > maxLabelBytes {
		return fact.Invalid(field, "is longer than 256 bytes")
	}
	if !utf8.ValidString(text) {
		return fact.Invalid(field, "is not valid UTF-8")
	}
	for _, r := range text {
		if r < 0x20 || r == 0x7f {
			return fact.Invalid(field, "contains a control character")
		}
	}
	return nil
}

// Tenants lists all tenants, deleted ones included, each with its fact count.
func (s *Service) Tenants(ctx context.Context, c Caller, read Read, trace *Trace) ([]TenantRow, Meta, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, Meta{}, err
	}
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	records, err := r.view.Tenants(r.ctx)
	if err != nil {
		return nil, r.meta, fmt.Errorf("list tenants: %w", err)
	}
	rows := make([]TenantRow, len(records))
	for i := range records {
		if rows[i], err = r.row(&records[i]); err != nil {
			return nil, r.meta, err
		}
	}
	trace.Step("execute", "registry")
	trace.Name("list_tenants", "registry → counters")
	trace.Int("results", len(rows))
	return rows, r.meta, nil
}

// Tenant returns one tenant.
func (s *Service) Tenant(ctx context.Context, c Caller, read Read, id string, trace *Trace) (TenantRow, Meta, error) {
	if err := c.mayManage(id); err != nil {
		return TenantRow{}, Meta{}, err
	}
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return TenantRow{}, Meta{}, err
	}
	defer r.close()
	record, err := r.tenant(id)
	if err != nil {
		return TenantRow{}, r.meta, err
	}
	row, err := r.row(record)
	trace.Step("execute", "registry")
	trace.Name("get_tenant", "registry → counters")
	return row, r.meta, err
}

// Keys lists a tenant's keys, without their secrets.
func (s *Service) Keys(ctx context.Context, c Caller, read Read, tenant string, trace *Trace) ([]fact.Key, Meta, error) {
	if err := c.mayManage(tenant); err != nil {
		return nil, Meta{}, err
	}
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	if _, err := r.tenant(tenant); err != nil {
		return nil, r.meta, err
	}
	keys, err := r.view.Keys(r.ctx, tenant)
	if err != nil {
		return nil, r.meta, fmt.Errorf("list keys: %w", err)
	}
	trace.Step("execute", "registry")
	trace.Name("list_keys", "registry")
	trace.Int("results", len(keys))
	return keys, r.meta, nil
}

func (r *reading) tenant(id string) (*fact.TenantRecord, error) {
	record, err := r.view.Tenant(r.ctx, id)
	if fact.CodeOf(err) == fact.NotFound || err == nil && record == nil {
		return nil, NoTenant(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read a tenant: %w", err)
	}
	return record, nil
}

func (r *reading) row(record *fact.TenantRecord) (TenantRow, error) {
	stats, err := r.view.Stats(r.ctx, fact.Scope{Tenant: record.ID, Branch: fact.MainBranch})
	if err != nil {
		return TenantRow{}, fmt.Errorf("count a tenant's facts: %w", err)
	}
	return TenantRow{TenantRecord: *record, FactCount: stats.Active}, nil
}

// NoTenant is the error of a tenant that does not exist.
func NoTenant(id string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no tenant: " + shorten(id)}
}
