package fsm

import (
	"fmt"
	"strconv"

	"abagraph/fact"
	"abagraph/log/entry"
)

// The registry of tenants and keys lies in the store's own keys, so that a key
// is found by its hash in one look-up. What happened to a tenant is told as
// facts about Tenant:<id> in the ownerless scope too, so that it has a history
// like everything else. The hashes of keys never become facts.

const registrySource = "abagraph"

func (l *ledger) regGet(key []byte) ([]byte, error) {
	if v, ok := l.registry[string(key)]; ok {
		return v, nil
	}
	return get(l.base, key)
}

func (l *ledger) regSet(key, value []byte) {
	k := string(key)
	if _, ok := l.registry[k]; !ok {
		l.regOrder = append(l.regOrder, k)
	}
	l.registry[k] = value
}

func (l *ledger) flushRegistry() error {
	for _, k := range l.regOrder {
		var err error
		if v := l.registry[k]; v != nil {
			err = l.batch.Set([]byte(k), v, nil)
		} else {
			err = l.batch.Delete([]byte(k), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) tenantRecord(id string) (*fact.TenantRecord, error) {
	v, err := l.regGet(tenantRecordKey(id))
	if err != nil || v == nil {
		return nil, err
	}
	t, err := entry.DecodeTenant(v)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "tenant %s cannot be read: %v", id, err)
	}
	return &t, nil
}

func (l *ledger) keyByID(tenant, id string) (*fact.Key, error) {
	hash, err := l.regGet(keyIDKey(tenant, id))
	if err != nil || hash == nil {
		return nil, err
	}
	var h [32]byte
	copy(h[:], hash)
	v, err := l.regGet(keyHashKey(h))
	if err != nil || v == nil {
		return nil, err
	}
	k, err := entry.DecodeKey(v)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "a key of tenant %s cannot be read: %v", tenant, err)
	}
	return &k, nil
}

// change applies one change of the registry, as one tx.
func (l *ledger) change(req *fact.Request, now fact.Instant) (*fact.Result, error) {
	own := *req
	own.Tenant, own.Branch = "", fact.MainBranch
	own.Threshold = 0
	t := l.begin(&own, now)
	res := &fact.Result{Tx: l.state.Tx, RecordedAt: now}
	refused, err := t.register(req.Registry, res)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		t.rollback()
		return &fact.Result{Tx: l.state.Tx, RecordedAt: now, Err: refused}, nil
	}
	res.Tx, res.Wrote = t.tx, true
	l.state.Registry = t.tx
	t.auditFor = []string{req.Registry.ID}
	return res, t.commit(txRecord{Kind: "registry", Actor: req.Actor, DeclaredKnownAt: fact.NoInstant, auditPart: registryAudit(req.Registry)})
}

// register makes the checks before it writes anything to the registry, which
// has no undo.
func (t *txn) register(c *fact.TenantChange, res *fact.Result) (*fact.Error, error) {
	rec, err := t.l.tenantRecord(c.ID)
	if err != nil {
		return nil, err
	}
	active := rec != nil && rec.Status == "active"
	if c.Op == fact.TenantCreate {
		if active {
			return fact.Errorf(fact.Conflict, "tenant %s exists already", c.ID), nil
		}
		return nil, t.createTenant(c, res)
	}
	if !active {
		return fact.Errorf(fact.NotFound, "no tenant: %s", c.ID), nil
	}
	res.Tenant = rec
	switch c.Op {
	case fact.TenantDelete:
		rec.Status = "deleted"
		t.l.regSet(tenantRecordKey(c.ID), entry.EncodeTenant(rec))
		return nil, t.state(c.ID, "status", fact.TextObject("deleted"))
	case fact.KeyAdd:
		return t.addKey(c, res)
	case fact.KeyRevoke:
		return t.revokeKey(c, res)
	}
	return fact.Errorf(fact.SchemaInvalid, "no such change of the registry: %d", c.Op), nil
}

func (t *txn) createTenant(c *fact.TenantChange, res *fact.Result) error {
	rec := &fact.TenantRecord{ID: c.ID, Name: c.Name, Status: "active", Quota: c.Quota, CreatedAt: t.now}
	t.l.regSet(tenantRecordKey(c.ID), entry.EncodeTenant(rec))
	res.Tenant = rec
	if c.Key != nil {
		t.storeKey(c.Key, res)
	}
	if err := t.state(c.ID, "status", fact.TextObject("active")); err != nil {
		return err
	}
	if c.Name != "" {
		if err := t.state(c.ID, "name", fact.TextObject(c.Name)); err != nil {
			return err
		}
	}
	if c.Quota > 0 {
		return t.state(c.ID, "quota_facts", fact.Object{Kind: fact.Number, Text: strconv.FormatInt(c.Quota, 10)})
	}
	return nil
}

// storeKey keeps a new key. Its creation time is the tx's.
func (t *txn) storeKey(k *fact.Key, res *fact.Result) {
	stored := *k
	stored.CreatedAt, stored.RevokedAt = t.now, fact.NoInstant
	t.l.regSet(keyHashKey(stored.Hash), entry.EncodeKey(&stored))
	t.l.regSet(keyIDKey(stored.Tenant, stored.ID), stored.Hash[:])
	res.Key = &stored
}

func (t *txn) addKey(c *fact.TenantChange, res *fact.Result) (*fact.Error, error) {
	if c.Key == nil || c.Key.Tenant != c.ID {
		return fact.Errorf(fact.SchemaInvalid, "a key must belong to its tenant"), nil
	}
	if c.RevokeOthers {
		keys, err := keysOf(t.l.base, t.l.regGet, c.ID)
		if err != nil {
			return nil, err
		}
		for i := range keys {
			if k := &keys[i]; k.Role == c.Key.Role && k.Name == c.Key.Name && !k.RevokedAt.Given() {
				t.revoke(k)
			}
		}
	}
	t.storeKey(c.Key, res)
	return nil, t.state(c.ID, "key_added", fact.TextObject(c.Key.ID))
}

func (t *txn) revokeKey(c *fact.TenantChange, res *fact.Result) (*fact.Error, error) {
	k, err := t.l.keyByID(c.ID, c.KeyID)
	if err != nil {
		return nil, err
	}
	if k == nil || k.RevokedAt.Given() {
		return fact.Errorf(fact.NotFound, "no key: %s", c.KeyID), nil
	}
	t.revoke(k)
	res.Key = k
	return nil, t.state(c.ID, "key_revoked", fact.TextObject(c.KeyID))
}

func (t *txn) revoke(k *fact.Key) {
	k.RevokedAt = t.now
	t.l.regSet(keyHashKey(k.Hash), entry.EncodeKey(k))
}

// state tells a change of the registry as a fact about the tenant.
func (t *txn) state(tenant, predicate string, value fact.Object) error {
	source := registrySource
	_, refused, err := t.assert(&fact.Assert{
		ID:      fact.ContinuationID(fact.NewID(t.now, [10]byte{}), t.tx, len(t.effects)+1),
		Subject: "Tenant:" + tenant, Predicate: predicate, Object: value,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, Source: &source,
		KnownAt: fact.NoInstant,
	})
	if err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("tell a change of tenant %s: %w", tenant, refused)
	}
	return nil
}
