package fsm

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"abagraph/fact"
)

// auditChain follows the chain from record to record.
type auditChain struct {
	from uint64 // the tx at which it begins; 0 = not yet
	last [32]byte
}

// next holds a record to the one before it, and tells what is wrong.
func (c *auditChain) next(tx uint64, r *txRecord) string {
	switch {
	case r.Version == 0 && c.from == 0:
		return "" // of a program that kept no chain
	case r.Version == 0:
		return fmt.Sprintf("tx %d: the audit record is not chained, and those before it are", tx)
	case c.from == 0:
		c.from = tx
	}
	want := chained(c.last, tx, r)
	c.last = r.Audit
	if want != r.Audit {
		return fmt.Sprintf("tx %d: the audit record or the one before it is not what was written", tx)
	}
	return ""
}

// audited checks that a tenant's trail names a record that is about it.
func (w *walker) audited(rest []byte) error {
	if len(rest) != 8 {
		return w.decodes("a place of the audit trail", fact.Errorf(fact.StorageCorruption, "cut short"))
	}
	tx := binary.BigEndian.Uint64(rest)
	r, err := readTx(w.view.snap, tx)
	if err != nil {
		return w.decodes("an audit record", err)
	}
	if !r.about(w.space.tenant) {
		w.out.problem("%s: the audit trail names tx %d, which is not about it", w.where(), tx)
	}
	return nil
}

// verifyAudited holds a record to the chain, and to its tenant's trail.
func (v *View) verifyAudited(out *Verified, chain *auditChain, tx uint64, r *txRecord) error {
	if what := chain.next(tx, r); what != "" {
		out.problem("%s", what)
	}
	return v.verifyListed(out.problem, tx, r)
}

// verifyListed checks that a record is told to the tenants that it names.
func (v *View) verifyListed(problem func(format string, args ...any), tx uint64, r *txRecord) error {
	if r.Version == 0 {
		return nil
	}
	tenants := []string{r.Tenant}
	if target, _, _ := strings.Cut(r.Target, "/"); r.Kind == "registry" && target != r.Tenant {
		tenants = append(tenants, target)
	}
	for _, tenant := range tenants {
		there, err := has(v.snap, space{tenant: tenant}.audits(tx))
		if err != nil {
			return err
		}
		if !there {
			problem("tx %d is missing in the audit trail of tenant %q", tx, tenant)
		}
	}
	return nil
}

// about reports whether a record is told to a tenant.
func (r *txRecord) about(tenant string) bool {
	target, _, _ := strings.Cut(r.Target, "/")
	return r.Tenant == tenant || r.AllTenants || r.Kind == "registry" && target == tenant
}

// AuditVerified is what a walk along the audit chain has seen.
type AuditVerified struct {
	Tx       uint64   `json:"tx"`      // the last one
	From     uint64   `json:"from"`    // the first chained one; 0 = none is
	Records  uint64   `json:"records"` // chained ones
	Hash     string   `json:"hash"`    // of the last one
	Problems []string `json:"problems"`
}

// VerifyAudit follows the audit chain over every record. Where anchor is not 0,
// the record of that tx must have the hash: one that was noted elsewhere.
func (v *View) VerifyAudit(ctx context.Context, anchor uint64, hash string, progress func(records uint64)) (*AuditVerified, error) {
	out := &AuditVerified{Tx: v.state.Tx, Hash: hex.EncodeToString(v.state.Audit[:]), Problems: []string{}}
	prefix := storeKeyOf(storeTx)
	it, err := v.iter(prefix)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var chain auditChain
	next := uint64(1)
	for ok := it.First(); ok; ok = it.Next() {
		tx := binary.BigEndian.Uint64(it.Key()[len(prefix):])
		if tx != next {
			out.problem("the records of the txs from %d to %d are missing", next, tx-1)
		}
		next = tx + 1
		b, err := it.ValueAndErr()
		if err != nil {
			return nil, storageError("read a tx record", err)
		}
		if r := out.record(&chain, tx, b, anchor, hash); r != nil {
			if err := v.verifyListed(out.problem, tx, r); err != nil {
				return nil, err
			}
		}
		if tx%4096 != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(tx)
		}
	}
	if err := it.Error(); err != nil {
		return nil, storageError("read the tx records", err)
	}
	if next != v.state.Tx+1 {
		out.problem("the state is at tx %d, and the last record is of tx %d", v.state.Tx, next-1)
	}
	if anchor > v.state.Tx {
		out.problem("the trail ends at tx %d, before tx %d, whose hash was noted", v.state.Tx, anchor)
	}
	out.From = chain.from
	return out, nil
}

// record holds one record to the chain, and to the hash that was noted of it; nil
// where it cannot be read.
func (a *AuditVerified) record(chain *auditChain, tx uint64, b []byte, anchor uint64, hash string) *txRecord {
	r, err := decodeTxRecord(b)
	if err != nil {
		a.problem("tx %d: %v", tx, err)
		return nil
	}
	if what := chain.next(tx, &r); what != "" {
		a.problem("%s", what)
	}
	if r.Version > 0 {
		a.Records++
	}
	if own := hex.EncodeToString(r.Audit[:]); tx == anchor && own != hash {
		a.problem("tx %d has the hash %s, not the one that was noted", tx, own)
	}
	return &r
}

func (a *AuditVerified) problem(format string, args ...any) {
	if len(a.Problems) < maxProblems {
		a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
	}
}
