package entry

import "abagraph/fact"

// requestVersion is the version of a request's bytes.
const requestVersion = 1

// The kinds of requests.
const (
	requestWrite = iota + 1
	requestRegistry
	requestPurge
	requestBranch
)

// requestVectors stands apart from the kinds that come in sequence.
const requestVectors = 16

// EncodeRequest returns the bytes of a request, as they stand in a batch and
// travel from a follower to its leader.
func EncodeRequest(q *fact.Request) []byte {
	w := writer{make([]byte, 0, 512)}
	w.byte(requestVersion)
	w.string(q.Tenant)
	w.string(q.Branch)
	w.string(q.Actor)
	w.float(q.Threshold)
	w.bool(q.Explain)
	w.bool(q.Idem != nil)
	if q.Idem != nil {
		w.string(q.Idem.Key)
		w.string(q.Idem.Method)
		w.string(q.Idem.Path)
		w.raw(q.Idem.Hash[:])
	}
	switch {
	case q.Write != nil:
		w.byte(requestWrite)
		w.write(q.Write)
	case q.Registry != nil:
		w.byte(requestRegistry)
		w.registry(q.Registry)
	case q.Purge != nil:
		w.byte(requestPurge)
		w.bool(q.Purge.AllTenants)
		w.string(q.Purge.Subject)
		w.string(q.Purge.Prefix)
	case q.Vectors != nil:
		w.byte(requestVectors)
		w.vectors(q.Vectors)
	case q.Branching != nil:
		w.byte(requestBranch)
		w.branching(q.Branching)
	default:
		w.byte(0)
	}
	return w.b
}

// TenantOf returns whose an encoded request is; "" where it cannot be read.
func TenantOf(b []byte) string {
	r := reader{b: b}
	r.byte()
	tenant := r.string()
	if r.err != nil {
		return ""
	}
	return tenant
}

// DecodeRequest reads the bytes of exactly one request.
func DecodeRequest(b []byte) (*fact.Request, error) {
	r := reader{b: b}
	if v := r.byte(); v != requestVersion && r.err == nil {
		r.fail("a request of a version that this program does not know")
	}
	q := &fact.Request{Tenant: r.string(), Branch: r.branch(), Actor: r.string(), Threshold: r.float(), Explain: r.bool()}
	if r.bool() {
		q.Idem = &fact.Idempotency{Key: r.string(), Method: r.string(), Path: r.string(), Hash: r.hash()}
	}
	switch r.byte() {
	case requestWrite:
		q.Write = r.write()
	case requestRegistry:
		q.Registry = r.registry()
	case requestPurge:
		q.Purge = &fact.Purge{AllTenants: r.bool(), Subject: r.string(), Prefix: r.string()}
	case requestVectors:
		q.Vectors = r.vectors()
	case requestBranch:
		q.Branching = r.branching()
	default:
		r.fail("a request of a kind that this program does not know")
	}
	return q, r.done()
}

func (w *writer) write(b *fact.Write) {
	w.uint(uint64(len(b.Guards)))
	for i := range b.Guards {
		g := &b.Guards[i]
		w.string(g.Subject)
		w.string(g.Predicate)
		w.byte(byte(g.Kind))
		w.object(g.Object)
	}
	w.uint(uint64(len(b.Retracts)))
	for i := range b.Retracts {
		w.id(b.Retracts[i].ID)
		w.instant(b.Retracts[i].KnownAt)
	}
	w.uint(uint64(len(b.Asserts)))
	for i := range b.Asserts {
		w.assert(&b.Asserts[i])
	}
	w.bool(b.Backfill != nil)
	if b.Backfill != nil {
		w.instant(b.Backfill.KnownAt)
		w.string(b.Backfill.Reason)
	}
	w.embedded(b)
	w.blobs(b)
}

func (r *reader) write() *fact.Write {
	b := &fact.Write{}
	if n := r.length(); n > 0 {
		b.Guards = make([]fact.Guard, 0, min(n, 1024))
		for i := 0; i < n && r.err == nil; i++ {
			b.Guards = append(b.Guards, fact.Guard{
				Subject: r.string(), Predicate: r.string(), Kind: fact.GuardKind(r.byte()), Object: r.object(),
			})
		}
	}
	if n := r.length(); n > 0 {
		b.Retracts = make([]fact.Retract, 0, min(n, 1024))
		for i := 0; i < n && r.err == nil; i++ {
			b.Retracts = append(b.Retracts, fact.Retract{ID: r.id(), KnownAt: r.instant()})
		}
	}
	if n := r.length(); n > 0 {
		b.Asserts = make([]fact.Assert, 0, min(n, 1024))
		for i := 0; i < n && r.err == nil; i++ {
			b.Asserts = append(b.Asserts, r.assert())
		}
	}
	if r.bool() {
		b.Backfill = &fact.Backfill{KnownAt: r.instant(), Reason: r.string()}
	}
	r.sections(b)
	return b
}

func (w *writer) assert(a *fact.Assert) {
	w.id(a.ID)
	w.string(a.Subject)
	w.string(a.Predicate)
	w.object(a.Object)
	w.instant(a.ValidFrom)
	w.instant(a.ValidUntil)
	w.float(a.Confidence)
	w.optional(a.Source)
	w.bytes(a.Properties)
	w.byte(byte(a.Policy))
	w.bool(a.Transient)
	w.instant(a.KnownAt)
}

func (r *reader) assert() fact.Assert {
	return fact.Assert{
		ID: r.id(), Subject: r.string(), Predicate: r.string(), Object: r.object(),
		ValidFrom: r.instant(), ValidUntil: r.instant(), Confidence: r.float(),
		Source: r.optional(), Properties: r.bytes(), Policy: fact.Policy(r.byte()),
		Transient: r.bool(), KnownAt: r.instant(),
	}
}

func (w *writer) registry(c *fact.TenantChange) {
	w.byte(byte(c.Op))
	w.string(c.ID)
	w.string(c.Name)
	w.int(c.Quota)
	w.string(c.KeyID)
	w.bool(c.RevokeOthers)
	w.bool(c.Key != nil)
	if c.Key != nil {
		w.key(c.Key)
	}
}

func (r *reader) registry() *fact.TenantChange {
	c := &fact.TenantChange{
		Op: fact.TenantOp(r.byte()), ID: r.string(), Name: r.string(), Quota: r.int(),
		KeyID: r.string(), RevokeOthers: r.bool(),
	}
	if r.bool() {
		k := r.key()
		c.Key = &k
	}
	return c
}

func (w *writer) key(k *fact.Key) {
	w.string(k.ID)
	w.string(k.Name)
	w.byte(byte(k.Role))
	w.raw(k.Hash[:])
	w.string(k.Tenant)
	w.instant(k.CreatedAt)
	w.instant(k.RevokedAt)
}

func (r *reader) key() fact.Key {
	return fact.Key{
		ID: r.string(), Name: r.string(), Role: fact.Role(r.byte()), Hash: r.hash(),
		Tenant: r.string(), CreatedAt: r.instant(), RevokedAt: r.instant(),
	}
}

func (w *writer) tenant(t *fact.TenantRecord) {
	w.string(t.ID)
	w.string(t.Name)
	w.string(t.Status)
	w.int(t.Quota)
	w.instant(t.CreatedAt)
}

func (r *reader) tenant() fact.TenantRecord {
	return fact.TenantRecord{ID: r.string(), Name: r.string(), Status: r.string(), Quota: r.int(), CreatedAt: r.instant()}
}

// EncodeKey returns the bytes of a registry key, for the store.
func EncodeKey(k *fact.Key) []byte {
	var w writer
	w.byte(requestVersion)
	w.key(k)
	return w.b
}

// DecodeKey reads the bytes of a registry key.
func DecodeKey(b []byte) (fact.Key, error) {
	r := reader{b: b}
	if v := r.byte(); v != requestVersion && r.err == nil {
		r.fail("a key of a version that this program does not know")
	}
	k := r.key()
	return k, r.done()
}

// EncodeTenant returns the bytes of a tenant record, for the store.
func EncodeTenant(t *fact.TenantRecord) []byte {
	var w writer
	w.byte(requestVersion)
	w.tenant(t)
	return w.b
}

// DecodeTenant reads the bytes of a tenant record.
func DecodeTenant(b []byte) (fact.TenantRecord, error) {
	r := reader{b: b}
	if v := r.byte(); v != requestVersion && r.err == nil {
		r.fail("a tenant of a version that this program does not know")
	}
	t := r.tenant()
	return t, r.done()
}
