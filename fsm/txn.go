package fsm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"abagraph/fact"
	"abagraph/log/entry"
)

// txn is one request being judged: it changes the ledger's rows, and either
// commits them under one tx or undoes every change.
type txn struct {
	l       *ledger
	space   space
	req     *fact.Request
	tx      uint64       // the tx it takes if it changes anything
	now     fact.Instant // its record time
	backing *fact.Backfill
	known   fact.Instant // the declared time of the row at hand, or NoInstant
	undo    []undoStep
	effects []effect
	extra   []byte     // what else the digest covers
	met     []metGuard // the guards that failed, and the facts that they met
	vectors []newVector
	blobs   []*fact.BlobPart
	pieces  int // continuations made so far in this tx
	told    int // the weight of the facts in its events
	// auditFor are the tenants that the tx is about besides its own.
	auditFor []string
}

// undoStep puts a row back as it was before a step of the request.
type undoStep struct {
	row  *row
	f    *fact.Fact // nil = the row was made by the step
	past int
	end  versionEnd // the last of the row's ends
	gone bool
}

// effect is one event of the tx, in the order in which they are told.
type effect struct {
	op     fact.Op
	row    *row
	others []*row // what an assert closed or moved
}

// pendingEvent is an event that the ledger will write.
type pendingEvent struct {
	effect
	space space
	tx    uint64
	n     int
	bytes []byte // nil = flush encodes it
}

func (l *ledger) begin(req *fact.Request, now fact.Instant) *txn {
	return &txn{
		l: l, space: space{req.Tenant, req.Branch}, req: req,
		tx: l.state.Tx + 1, now: now, known: fact.NoInstant,
	}
}

// versionKnown is the time from which what the row at hand does counts as known.
func (t *txn) versionKnown() fact.Instant {
	if t.known.Given() {
		return t.known
	}
	return t.now
}

// touch prepares a row for a change by this tx: it keeps the version that the
// change replaces, and what is needed to undo it.
func (t *txn) touch(r *row) *fact.Fact {
	t.l.adopt(r)
	u := undoStep{row: r, f: r.before(), past: len(r.past), gone: r.gone}
	if u.past > 0 {
		u.end = r.ends[u.past-1]
	}
	t.undo = append(t.undo, u)
	if r.f.Tx != t.tx {
		if r.f.Tx != 0 {
			r.past = append(r.past, u.f)
			r.ends = append(r.ends, versionEnd{tx: t.tx, at: t.now, known: t.versionKnown()})
		}
		r.f.Tx, r.f.VersionAt = t.tx, t.now
		r.f.Branch = r.space.branch // a branch that changes an inherited fact makes it its own
	} else if n := len(r.ends); n > 0 && r.ends[n-1].tx == t.tx {
		r.ends[n-1].known = t.versionKnown()
	}
	// A tx leaves one version of a fact, known when its last row was.
	r.f.VersionKnownAt = t.versionKnown()
	r.bytes = nil
	return &r.f
}

// before returns what the row's fact is, to be kept while it changes.
func (r *row) before() *fact.Fact {
	if r.orig != nil && r.orig.Tx == r.f.Tx {
		return r.orig // it has not been changed in this call
	}
	f := r.f
	return &f
}

// create adds a new row. A fact that comes with an id of its own is new in this
// tx, whatever it copies.
func (t *txn) create(f fact.Fact) *row {
	f.Tenant, f.Branch = t.space.tenant, t.space.branch
	f.Tx, f.FirstTx = t.tx, t.tx
	f.VersionAt, f.RecordedAt = t.now, t.now
	f.VersionKnownAt = t.versionKnown()
	if bytes.Compare(f.ID[:], t.l.state.MaxID[:]) > 0 {
		t.l.state.MaxID = f.ID
	}
	r := t.l.newRow(t.space, &f, nil)
	t.l.adopt(r)
	t.undo = append(t.undo, undoStep{row: r, gone: true})
	return r
}

// rollback undoes every change of the request.
func (t *txn) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		u := t.undo[i]
		if u.f != nil {
			u.row.f = *u.f
		}
		u.row.gone, u.row.bytes = u.gone, nil
		u.row.past, u.row.ends = u.row.past[:u.past], u.row.ends[:u.past]
		if u.past > 0 {
			u.row.ends[u.past-1] = u.end
		}
	}
	t.undo, t.effects, t.vectors, t.blobs = nil, nil, nil, nil
}

// changed reports whether the request has changed anything.
func (t *txn) changed() bool { return len(t.undo) > 0 || len(t.blobs) > 0 }

// tell adds an event. Answers and the stream hold what events name, so that the
// weight of a tx is theirs.
func (t *txn) tell(op fact.Op, r *row, others ...*row) {
	t.told += r.f.Weight() + weightOf(others)
	t.effects = append(t.effects, effect{op: op, row: r, others: others})
}

// commit gives the tx its place: it extends the digest chain over the effects,
// and keeps the tx's record and events.
func (t *txn) commit(record txRecord) error {
	l := t.l
	d := l.digest(t.tx, t.now)
	for n, e := range t.effects {
		d.effect(l, e)
		p := pendingEvent{space: t.space, tx: t.tx, n: n, effect: e}
		if e.op == fact.OpExpire {
			p.bytes = appendEvent(nil, e) // while the fact is there
		}
		l.events = append(l.events, p)
	}
	for i := range t.vectors {
		d.bytes(0xfe, t.vectors[i].encoded())
	}
	l.vectors.add(t.tx, t.vectors)
	for _, p := range t.blobs {
		if err := l.keepBlob(&d, t.space, p); err != nil {
			return err
		}
	}
	d.bytes(0xff, t.extra)
	l.told += t.told
	l.times = append(l.times, t.now)
	l.state.Tx = t.tx
	l.state.Digest = d.sum()
	l.digests = append(l.digests, l.state.Digest)
	record.RecordedAt, record.Digest = t.now, l.state.Digest
	return t.audit(&record)
}

// encoded returns the bytes of the row's fact, which lie in the call's memory.
func (l *ledger) encoded(r *row) []byte {
	if r.bytes == nil {
		from := len(l.encodings)
		l.encodings = entry.AppendFact(l.encodings, &r.f)
		r.bytes = l.encodings[from:len(l.encodings):len(l.encodings)]
	}
	return r.bytes
}

// object returns the hash of the row's object.
func (r *row) object() objectHash {
	if r.hash == (objectHash{}) {
		r.hash = hashOf(r.f.Object)
	}
	return r.hash
}

// digest is the hash of one tx: of the one before it, and of what it did.
type digest struct {
	h   hash.Hash
	buf []byte
}

// digest begins the hash of the next tx.
func (l *ledger) digest(tx uint64, at fact.Instant) digest {
	if l.hasher == nil {
		l.hasher = sha256.New()
	}
	d := digest{h: l.hasher, buf: l.tail[:0]}
	d.h.Reset()
	d.buf = append(d.buf, l.state.Digest[:]...)
	d.buf = binary.BigEndian.AppendUint64(d.buf, tx)
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(at))
	d.h.Write(d.buf)
	l.tail = d.buf
	return d
}

func (d *digest) bytes(kind byte, b []byte) {
	d.buf = append(d.buf[:0], kind)
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(len(b)))
	d.h.Write(d.buf)
	d.h.Write(b)
}

func (d *digest) effect(l *ledger, e effect) {
	d.bytes(byte(e.op), l.encoded(e.row))
	for _, o := range e.others {
		d.bytes(0, l.encoded(o))
	}
}

func (d *digest) sum() (out [32]byte) {
	d.buf = d.h.Sum(d.buf[:0])
	return [32]byte(d.buf)
}
