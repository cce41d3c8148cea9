package fsm

import (
	"context"
	"encoding/binary"
	"fmt"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// What is done to a store that no node runs on.

// readOnly makes Pebble's options those of a store that is only looked at.
func (o *Options) readOnly(p *pebble.Options) {
	if o.ReadOnly {
		p.ReadOnly, p.ErrorIfNotExists, p.DisableAutomaticCompactions = true, true, true
	}
}

// EpochName makes the name of an epoch from a seed.
func EpochName(seed []byte) string { return epochName(seed) }

// StartEpoch begins a new epoch (C-35): every cursor of an earlier one is told so
// from then on. It is on disk when StartEpoch returns. Only the restore of a
// backup calls it, before any node runs on the store.
func (m *Machine) StartEpoch(epoch string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	next := m.state
	next.Epoch = epoch
	b := m.db.NewBatch()
	defer b.Close()
	if err := next.save(b); err != nil {
		return err
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return storageError("start an epoch", err)
	}
	m.state = next
	return m.pictures.leave()
}

// PurgeRecord is what remains of a purge: that it ran (C-56).
type PurgeRecord struct {
	Tx         uint64
	RecordedAt fact.Instant
	Tenant     string
	AllTenants bool
}

// Purges lists the purges after a tx, oldest first, at most limit of them.
func (v *View) Purges(ctx context.Context, after uint64, limit int) ([]PurgeRecord, error) {
	if v.state.Purge <= after {
		return nil, nil
	}
	it, err := openIter(v.snap, txKey(after+1), successor(storeKeyOf(storeTx)))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var found []PurgeRecord
	for ok := it.First(); ok && len(found) < limit; ok = it.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, storageError("read a tx record", err)
		}
		rec, err := decodeTxRecord(value)
		if err != nil {
			return nil, err
		}
		if rec.Kind == "purge" {
			key := it.Key()
			found = append(found, PurgeRecord{
				Tx: binary.BigEndian.Uint64(key[len(key)-8:]), RecordedAt: rec.RecordedAt, Tenant: rec.Tenant, AllTenants: rec.AllTenants,
			})
		}
	}
	if err := it.Error(); err != nil {
		return nil, fmt.Errorf("read the tx records: %w", err)
	}
	return found, nil
}

// LastRegistryTx is the tx of the last change to tenants and keys.
func (v *View) LastRegistryTx() uint64 { return v.state.Registry }
