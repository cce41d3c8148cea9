package fsm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"abagraph/fact"
)

// The audit trail is the records of the txs: who did what, and when, without a
// word of any fact. Each is chained to the one before by a hash, so that none can
// be changed, left out or put in between without changing every later one. A
// tenant's own trail is an index of the txs that are about it.

// maxAuditLook is the most records that one page looks at.
const maxAuditLook = 1 << 16

var branchOps = [...]string{fact.BranchCreate: "branch.create", fact.BranchPromote: "branch.promote", fact.BranchDiscard: "branch.discard"}

func registryAudit(c *fact.TenantChange) auditPart {
	p := auditPart{Target: c.ID}
	switch c.Op {
	case fact.TenantCreate:
		p.Op = "tenant.create"
	case fact.TenantDelete:
		p.Op = "tenant.delete"
	case fact.KeyAdd:
		p.Op, p.Target = "key.add", c.ID+"/"+c.Key.ID
		if c.RevokeOthers {
			p.Op = "key.rotate"
		}
	case fact.KeyRevoke:
		p.Op, p.Target = "key.revoke", c.ID+"/"+c.KeyID
	}
	return p
}

// audit keeps a tx's record, chained to the last one, and where it is told.
func (t *txn) audit(r *txRecord) error {
	l := t.l
	r.Version, r.Branch = auditVersion, t.space.branch
	for _, e := range t.effects {
		switch e.op {
		case fact.OpAssert:
			r.counts.Asserted++
		case fact.OpRetract:
			r.counts.Retracted++
		case fact.OpSupersede:
			r.counts.Superseded++
		case fact.OpExpire:
			r.counts.Expired++
		}
		r.counts.Superseded += uint64(len(e.others))
	}
	l.state.Audit = chained(l.state.Audit, t.tx, r)
	r.Audit = l.state.Audit
	for i, tenant := range append([]string{r.Tenant}, t.auditFor...) {
		if i > 0 && tenant == r.Tenant {
			continue
		}
		l.audits = append(l.audits, auditPlace{tenant, t.tx})
	}
	l.tail = appendTxRecord(l.tail[:0], r)
	return l.set(appendUint(append(l.buf[:0], spaceStore, storeTx), t.tx), l.tail)
}

// auditPlace is where a tenant's trail tells of a tx.
type auditPlace struct {
	tenant string
	tx     uint64
}

func (l *ledger) flushAudits() error {
	for _, p := range l.audits {
		if err := l.set(appendUint(l.key(space{tenant: p.tenant}, famAudit), p.tx), nil); err != nil {
			return err
		}
	}
	return nil
}

// chained returns the hash of a record that follows another.
func chained(before [32]byte, tx uint64, r *txRecord) [32]byte {
	b := make([]byte, 0, 256)
	b = append(append(b, "abagraph audit 1\x00"...), before[:]...)
	b = binary.BigEndian.AppendUint64(b, tx)
	b = appendTxRecord(b, r)
	return sha256.Sum256(b[:len(b)-len(r.Audit)])
}

// Audit returns a part of the trail that a scope may see.
func (v *View) Audit(ctx context.Context, q *fact.AuditQuery) (*fact.AuditPage, error) {
	prefix := storeKeyOf(storeTx)
	if !q.Scope.All {
		prefix = space{tenant: q.Scope.Tenant}.shared().prefix(famAudit)
	}
	it, err := v.iter(prefix)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	before := v.state.Tx + 1
	if q.Before > 0 {
		before = min(before, q.Before)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = fact.DefaultLimit
	}
	page := &fact.AuditPage{}
	step, ok := it.Prev, false
	if q.Forward {
		step, ok = it.Next, it.SeekGE(appendUint(prefix[:len(prefix):len(prefix)], q.After+1))
	} else {
		ok = it.SeekLT(appendUint(prefix[:len(prefix):len(prefix)], before))
	}
	last := uint64(0)
	for looked := 0; ok; ok = step() {
		tx := binary.BigEndian.Uint64(it.Key()[len(prefix):])
		if tx <= q.After || tx >= before {
			break
		}
		if len(page.Records) == limit || looked == maxAuditLook {
			page.Next = last
			break
		}
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		last = tx
		r, err := readTx(v.snap, tx)
		if err != nil {
			return nil, err
		}
		if a := r.told(tx, q.Scope); (q.Actor == "" || q.Actor == a.Actor) && (q.Action == "" || q.Action == a.Action || q.Action == r.Kind) {
			page.Records = append(page.Records, a)
		}
	}
	if err := it.Error(); err != nil {
		return nil, storageError("read the audit trail", err)
	}
	return page, nil
}

// told is a record as a scope may see it.
func (r *txRecord) told(tx uint64, scope fact.Scope) fact.AuditRecord {
	a := fact.AuditRecord{
		Tx: tx, RecordedAt: r.RecordedAt, Tenant: r.Tenant, AllTenants: r.AllTenants, Branch: r.Branch, Action: r.Kind, Target: r.Target,
		Actor: r.Actor, Reason: r.Reason, DeclaredKnownAt: r.DeclaredKnownAt, Digest: r.Digest, Hash: r.Audit, Chained: r.Version > 0,
		Counted: r.Version > 0 && r.Kind != "purge" && (scope.All || scope.Tenant == r.Tenant), Asserted: r.counts.Asserted,
		Superseded: r.counts.Superseded, Retracted: r.counts.Retracted, Expired: r.counts.Expired,
	}
	if r.Op != "" {
		a.Action = r.Op
	}
	return a
}
