package fsm

import (
	"encoding/binary"

	"abagraph/fact"
)

// txRecord is what is kept of every tx for ever.
type txRecord struct {
	RecordedAt fact.Instant
	Kind       string // write, registry, purge or sweep
	Tenant     string // whose tx it is
	AllTenants bool   `json:",omitempty"` // a purge of every tenant
	Actor      string `json:",omitempty"`
	// Reason and DeclaredKnownAt are those of a backfill (C-28).
	Reason          string       `json:",omitempty"`
	DeclaredKnownAt fact.Instant `json:",omitempty"`
	Digest          [32]byte
	auditPart
}

// appendTxRecord writes the few fields of a record in binary: there is one for
// every tx.
func appendTxRecord(dst []byte, r *txRecord) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.RecordedAt))
	dst = append(dst, r.Digest[:]...)
	flags := byte(0)
	if r.AllTenants {
		flags = 1
	}
	dst = append(dst, flags)
	for _, s := range []string{r.Kind, r.Tenant, r.Actor, r.Reason} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	dst = binary.AppendVarint(dst, int64(r.DeclaredKnownAt))
	if r.Version == 0 {
		return dst
	}
	return append(r.appendAudit(dst), r.Audit[:]...)
}

func decodeTxRecord(b []byte) (txRecord, error) {
	var r txRecord
	bad := fact.Errorf(fact.StorageCorruption, "a tx record cannot be read")
	if len(b) < 41 {
		return r, bad
	}
	r.RecordedAt = fact.Instant(binary.BigEndian.Uint64(b))
	copy(r.Digest[:], b[8:])
	r.AllTenants = b[40] == 1
	b = b[41:]
	for _, s := range []*string{&r.Kind, &r.Tenant, &r.Actor, &r.Reason} {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > uint64(len(b)-w) {
			return r, bad
		}
		*s = string(b[w : w+int(n)])
		b = b[w+int(n):]
	}
	v, w := binary.Varint(b)
	if w <= 0 {
		return r, bad
	}
	r.DeclaredKnownAt = fact.Instant(v)
	if !r.decodeAudit(b[w:]) {
		return r, bad
	}
	return r, nil
}

// auditVersion is the version of what a record holds for the audit trail. The
// records of earlier programs end before it, and are 0.
const auditVersion = 1

// auditPart is what a record holds for the audit trail besides, and the end of
// the chain that goes over all of it.
type auditPart struct {
	Version byte
	Branch  string
	Op      string // what was done, where Kind is not enough: tenant.create
	Target  string // what it was done to: a branch, a tenant, a key's id
	counts  auditCounts
	Audit   [32]byte
}

// auditCounts are the facts that a tx changed, and how.
type auditCounts struct{ Asserted, Superseded, Retracted, Expired uint64 }

func (c *auditCounts) fields() [4]*uint64 {
	return [4]*uint64{&c.Asserted, &c.Superseded, &c.Retracted, &c.Expired}
}

func (p *auditPart) appendAudit(dst []byte) []byte {
	dst = append(dst, p.Version)
	for _, s := range [...]string{p.Branch, p.Op, p.Target} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	for _, n := range p.counts.fields() {
		dst = binary.AppendUvarint(dst, *n)
	}
	return dst
}

// decodeAudit reads what follows an older record; nothing at all is one.
func (p *auditPart) decodeAudit(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if p.Version, b = b[0], b[1:]; p.Version != auditVersion {
		return false
	}
	for _, s := range [...]*string{&p.Branch, &p.Op, &p.Target} {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > uint64(len(b)-w) {
			return false
		}
		*s, b = string(b[w:w+int(n)]), b[w+int(n):]
	}
	for _, n := range p.counts.fields() {
		v, w := binary.Uvarint(b)
		if w <= 0 {
			return false
		}
		*n, b = v, b[w:]
	}
	return copy(p.Audit[:], b) == len(b) && len(b) == len(p.Audit)
}
