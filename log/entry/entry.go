package entry

import (
	"fmt"

	"abagraph/fact"
)

// Version is the format version that this program writes. It reads this one
// only; a later release that changes the bytes reads all earlier ones.
const Version = 1

// Kind is what a log entry asks of the state machine.
type Kind byte

// The kinds of entries.
const (
	// KindBatch holds every request that waited when it was proposed, each
	// with an outcome of its own (group commit).
	KindBatch Kind = iota + 1
	// KindTick changes nothing: a new leader proposes one, so that a read of
	// everything committed cannot wait for ever.
	KindTick
	// KindSweep deletes expired transient facts, makes due closes take effect
	// and drops old idempotent outcomes, by the entry's own time (C-17).
	KindSweep
	// KindCheck compares the digest of the state at a tx.
	KindCheck
)

// Entry is one decoded log entry.
type Entry struct {
	Kind       Kind
	ProposedAt fact.Instant
	Requests   [][]byte // of a batch; they share the entry's memory
	Tx         uint64   // of a check
	Digest     [32]byte // of a check
}

// Batch is a group of encoded requests.
type Batch struct {
	ProposedAt fact.Instant
	Requests   [][]byte
}

// EncodeBatch returns the bytes of a batch.
func EncodeBatch(b Batch) []byte {
	size := 32
	for _, q := range b.Requests {
		size += len(q) + 10
	}
	w := writer{make([]byte, 0, size)}
	w.header(KindBatch, b.ProposedAt)
	w.uint(uint64(len(b.Requests)))
	for _, q := range b.Requests {
		w.bytes(q)
	}
	return w.b
}

// EncodeTick returns the bytes of a tick.
func EncodeTick(proposedAt fact.Instant) []byte { return bare(KindTick, proposedAt) }

// EncodeSweep returns the bytes of a sweep; its cut-off is the record time that
// the state machine gives to the entry.
func EncodeSweep(proposedAt fact.Instant) []byte { return bare(KindSweep, proposedAt) }

func bare(kind Kind, proposedAt fact.Instant) []byte {
	var w writer
	w.header(kind, proposedAt)
	return w.b
}

// EncodeCheck returns the bytes of a digest check.
func EncodeCheck(proposedAt fact.Instant, tx uint64, digest [32]byte) []byte {
	var w writer
	w.header(KindCheck, proposedAt)
	w.uint(tx)
	w.raw(digest[:])
	return w.b
}

func (w *writer) header(kind Kind, proposedAt fact.Instant) {
	w.byte(Version)
	w.byte(byte(kind))
	w.time(proposedAt)
}

// Decode reads the bytes of exactly one log entry. The requests of a batch stay
// encoded and share b's memory.
func Decode(b []byte) (Entry, error) {
	r := reader{b: b}
	version := r.byte()
	if r.err == nil && version != Version {
		return Entry{}, fmt.Errorf("log entry of format version %d: this program knows version %d only: %w", version, Version, ErrMalformed)
	}
	e := Entry{Kind: Kind(r.byte()), ProposedAt: r.time()}
	switch e.Kind {
	case KindBatch:
		n := r.length()
		e.Requests = make([][]byte, 0, min(n, 1024))
		for i := 0; i < n && r.err == nil; i++ {
			e.Requests = append(e.Requests, r.take(r.length()))
		}
	case KindTick, KindSweep:
	case KindCheck:
		e.Tx, e.Digest = r.uint(), r.hash()
	default:
		if r.err == nil {
			return Entry{}, fmt.Errorf("log entry of kind %d, which this program does not know: %w", e.Kind, ErrMalformed)
		}
	}
	return e, r.done()
}
