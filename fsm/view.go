package fsm

import (
	"context"
	"errors"
	"sync"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// View is a consistent picture of the machine at one tx. It must be closed. It
// is safe for concurrent use.
type View struct {
	m     *Machine
	own   *picture
	snap  *pebble.Snapshot
	state state
	once  sync.Once
	spare spares
	times moments

	forksMu sync.Mutex
	forks   map[space]*forks
}

// View opens a view of the present state. Who holds one must not open another:
// a restore that waits for the first would keep out the second.
func (m *Machine) View() (*View, error) { return m.ViewWithin(context.Background()) }

// ViewWithin is View, for who can wait only so long for the store to have what was
// told: it does not while its disk hangs.
func (m *Machine) ViewWithin(ctx context.Context) (*View, error) {
	m.gate.RLock()
	defer m.gate.RUnlock()
	err := m.lockSettled(ctx)
	defer m.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	own, err := m.pictures.take(m)
	if err != nil {
		return nil, err
	}
	m.views.Add(1)
	return &View{m: m, own: own, snap: own.snap, state: own.state}, nil
}

// Close releases the view.
func (v *View) Close() {
	v.once.Do(func() {
		if err := errors.Join(v.spare.closeAll(), v.own.release()); err != nil && v.m.options.Logger != nil {
			v.m.options.Logger.Error("abagraph.store.view_error", "error", err.Error())
		}
		v.m.views.Done()
	})
}

// Position tells where the machine stood when the view was opened.
func (v *View) Position() fact.Position { return v.state.position() }

// RecordTime returns the record time of a tx.
func (v *View) RecordTime(_ context.Context, tx uint64) (fact.Instant, error) {
	if tx == 0 {
		return fact.NoInstant, nil
	}
	if t, known := v.times.recordTime(tx); known {
		return t, nil
	}
	t, err := v.recordTime(tx)
	if err == nil {
		v.times.keepRecordTime(tx, t)
	}
	return t, err
}

func (v *View) recordTime(tx uint64) (fact.Instant, error) {
	rec, err := readTx(v.snap, tx)
	return rec.RecordedAt, err
}

// TxAt returns the last tx whose record time is not later than t; 0 where there
// is none.
func (v *View) TxAt(ctx context.Context, t fact.Instant) (uint64, error) {
	if tx, known := v.times.txAt(t); known {
		return tx, nil
	}
	tx, err := searchTx(ctx, v.state.Tx, t, v.recordTime)
	if err == nil {
		v.times.keepTxAt(t, tx)
	}
	return tx, err
}

// iter opens an iterator over what begins with a prefix.
func (v *View) iter(prefix []byte) (iterator, error) {
	return openIter(v.snap, prefix, successor(prefix))
}

// tenants lists the tenants that a scope may see.
func (v *View) tenants(scope fact.Scope) ([]string, error) {
	if !scope.All {
		return []string{scope.Tenant}, nil
	}
	return dataTenants(v.snap)
}

// Stats counts the facts of a scope. It reads counters, never facts. Of several
// tenants, entities of one name count once in each; predicates count once.
func (v *View) Stats(ctx context.Context, scope fact.Scope) (fact.Stats, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return fact.Stats{}, err
	}
	if scope.Branch != fact.MainBranch {
		return v.branchesStats(ctx, tenants, scope)
	}
	if !scope.All {
		c, err := readCounters(v.snap, space{scope.Tenant, scope.Branch})
		stats := c.stats()
		stats.Tenants = 1
		return stats, err
	}
	var sum fact.Stats
	names := make(map[string]bool)
	for _, tenant := range tenants {
		s := space{tenant, scope.Branch}
		c, err := readCounters(v.snap, s)
		if err != nil {
			return sum, err
		}
		one := c.stats()
		if tenant != "" && one.Total() > 0 {
			sum.Tenants++ // the ownerless scope is no tenant
		}
		sum.Active += one.Active
		sum.Candidate += one.Candidate
		sum.Superseded += one.Superseded
		sum.Retracted += one.Retracted
		sum.Entities += one.Entities
		if err := eachPredicate(v.snap, s, "", func(name string) bool { names[name] = true; return true }); err != nil {
			return sum, err
		}
	}
	sum.Predicates = uint64(len(names))
	return sum, nil
}

// branchesStats adds up the branches of one name.
func (v *View) branchesStats(ctx context.Context, tenants []string, scope fact.Scope) (fact.Stats, error) {
	var sum fact.Stats
	names := make(map[string]bool)
	for _, tenant := range tenants {
		one, err := v.branchStats(ctx, space{tenant, scope.Branch}, names)
		if err != nil {
			return sum, err
		}
		if tenant != "" && one.Total() > 0 {
			sum.Tenants++ // the ownerless scope is no tenant
		}
		sum.Active += one.Active
		sum.Candidate += one.Candidate
		sum.Superseded += one.Superseded
		sum.Retracted += one.Retracted
		sum.Entities += one.Entities
	}
	sum.Predicates = uint64(len(names))
	if !scope.All {
		sum.Tenants = 1
	}
	return sum, nil
}

// eachPredicate visits the predicates after a name, in byte order, until visit
// answers false.
func eachPredicate(r pebble.Reader, s space, after string, visit func(string) bool) error {
	prefix := s.prefix(famPredicate)
	lower := prefix
	if after != "" {
		lower = successor(s.predicate(after))
	}
	it, err := openIter(r, lower, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		name, _, fine := cutString(it.Key()[len(prefix):])
		if !fine {
			return errors.Join(fact.Errorf(fact.StorageCorruption, "a predicate's key cannot be read"), it.Close())
		}
		if !visit(name) {
			break
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// Tenants lists the registered tenants, in byte order.
func (v *View) Tenants(ctx context.Context) ([]fact.TenantRecord, error) {
	prefix := storeKeyOf(storeRecord)
	it, err := openIter(v.snap, prefix, successor(prefix))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var list []fact.TenantRecord
	for ok := it.First(); ok; ok = it.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return nil, storageError("read a tenant", err)
		}
		t, err := entry.DecodeTenant(b)
		if err != nil {
			return nil, fact.Errorf(fact.StorageCorruption, "a tenant cannot be read: %v", err)
		}
		list = append(list, t)
	}
	return list, it.Error()
}

// Tenant returns a registered tenant, or NotFound.
func (v *View) Tenant(_ context.Context, id string) (*fact.TenantRecord, error) {
	b, err := get(v.snap, tenantRecordKey(id))
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fact.Errorf(fact.NotFound, "no tenant: %s", id)
	}
	t, err := entry.DecodeTenant(b)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "tenant %s cannot be read: %v", id, err)
	}
	return &t, nil
}

// Keys lists the keys of a tenant, revoked ones included, by id.
func (v *View) Keys(ctx context.Context, tenant string) ([]fact.Key, error) {
	keys, err := keysOf(v.snap, func(key []byte) ([]byte, error) { return get(v.snap, key) }, tenant)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	t, err := v.Tenant(ctx, tenant)
	if err != nil {
		return nil, err
	}
	for i := range keys {
		if k := &keys[i]; !k.RevokedAt.Given() && outlived(k, t) {
			k.RevokedAt = t.CreatedAt
		}
	}
	return keys, nil
}

// keysOf lists the keys of a tenant through a look-up that may know better than
// the reader.
func keysOf(r pebble.Reader, look func([]byte) ([]byte, error), tenant string) ([]fact.Key, error) {
	prefix := appendString(storeKeyOf(storeKey), tenant)
	it, err := openIter(r, prefix, successor(prefix))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var keys []fact.Key
	for ok := it.First(); ok; ok = it.Next() {
		b, err := it.ValueAndErr()
		if err != nil || len(b) != 32 {
			return nil, fact.Errorf(fact.StorageCorruption, "a key of tenant %s cannot be read", tenant)
		}
		v, err := look(keyHashKey([32]byte(b)))
		if err != nil {
			return nil, err
		}
		k, err := entry.DecodeKey(v)
		if err != nil {
			return nil, fact.Errorf(fact.StorageCorruption, "a key of tenant %s cannot be read: %v", tenant, err)
		}
		keys = append(keys, k)
	}
	return keys, it.Error()
}

// KeyByHash returns the key with a hash if it is valid and its tenant is
// active; nil otherwise.
func (v *View) KeyByHash(ctx context.Context, hash [32]byte) (*fact.Key, error) {
	b, err := get(v.snap, keyHashKey(hash))
	if err != nil || b == nil {
		return nil, err
	}
	k, err := entry.DecodeKey(b)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "a key cannot be read: %v", err)
	}
	if k.RevokedAt.Given() {
		return nil, nil
	}
	t, err := v.Tenant(ctx, k.Tenant)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, nil
	}
	if err != nil || t.Status != "active" || outlived(&k, t) {
		return nil, err
	}
	return &k, nil
}

// outlived reports whether a key is of a tenant that was deleted, and whose name another
// one has been given since: the deletion ended it for good.
func outlived(k *fact.Key, t *fact.TenantRecord) bool { return k.CreatedAt < t.CreatedAt }

// PurgeCount counts the facts that a purge would erase.
func (v *View) PurgeCount(ctx context.Context, scope fact.Scope, p fact.Purge) (uint64, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, tenant := range tenants {
		branches := []string{fact.MainBranch}
		err := eachBranch(v.snap, tenant, "", func(rec *fact.Branch) bool {
			branches = append(branches, rec.Name)
			return true
		})
		if err != nil {
			return 0, err
		}
		for _, branch := range branches {
			more, err := v.purgeCount(ctx, space{tenant, branch}, &p)
			if err != nil {
				return 0, err
			}
			n += more
		}
	}
	return n, nil
}

func (v *View) purgeCount(ctx context.Context, s space, p *fact.Purge) (uint64, error) {
	subjects, err := subjectsFrom(v.snap, s, p)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, subject := range subjects {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		more, err := v.countRows(s, subject)
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}

func (v *View) countRows(s space, subject string) (uint64, error) {
	lower := s.class(subject, fact.Active)
	upper := successor(s.class(subject, fact.Retracted))
	it, err := openIter(v.snap, lower, upper)
	if err != nil {
		return 0, err
	}
	var n uint64
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	return n, errors.Join(it.Error(), it.Close())
}
