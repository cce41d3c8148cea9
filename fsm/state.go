package fsm

import (
	"encoding/base32"
	"encoding/binary"
	"strings"

	"crypto/sha256"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// state is where the machine stands. It is written in the same batch as the
// effects that led to it, so that a crash can neither skip nor repeat an entry.
type state struct {
	Format int
	Index  uint64
	Term   uint64
	Tx     uint64
	// Clock is the log's own clock: the latest time that any entry was judged
	// at. No record time is later (C-23).
	Clock  fact.Instant
	Epoch  string
	Digest [32]byte
	// Purge is the tx of the last purge, Registry that of the last change to
	// the tenants and keys.
	Purge    uint64
	Registry uint64
	// Expiry is the tx of the last sweep that deleted a fact.
	Expiry uint64
	// MaxID is the greatest id that any fact was ever given: a greater one is
	// new for certain.
	MaxID fact.ID
	// Audit is the end of the audit chain. It is kept with the record of the
	// last tx, not here.
	Audit [32]byte
}

func (s *state) position() fact.Position {
	return fact.Position{Index: s.Index, Term: s.Term, Tx: s.Tx, RecordedAt: s.Clock, Epoch: s.Epoch, Digest: s.Digest, Purge: s.Purge, Expiry: s.Expiry}
}

// loadState reads the state of a store; that of an empty store is zero.
func loadState(r pebble.Reader) (state, error) {
	b, err := get(r, storeKeyOf(storeState))
	if err != nil {
		return state{}, err
	}
	if b == nil {
		return state{Format: storeFormat, Clock: fact.NoInstant}, nil
	}
	s, err := decodeState(b)
	if err != nil || s.Tx == 0 {
		return s, err
	}
	last, err := readTx(r, s.Tx)
	s.Audit = last.Audit
	return s, err
}

func (s *state) save(b *pebble.Batch) error {
	return b.Set(storeKeyOf(storeState), s.append(nil), nil)
}

// append writes the state in binary, its format first: there is one in every
// batch.
func (s *state) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.Format))
	for _, n := range [...]uint64{s.Index, s.Term, s.Tx, s.Purge, s.Registry, s.Expiry} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = binary.AppendVarint(dst, int64(s.Clock))
	dst = append(append(dst, s.Digest[:]...), s.MaxID[:]...)
	return append(dst, s.Epoch...)
}

func decodeState(b []byte) (state, error) {
	var s state
	bad := fact.Errorf(fact.StorageCorruption, "the store's state record cannot be read")
	format, n := binary.Uvarint(b)
	if n <= 0 {
		return s, bad
	}
	if format == '{' { // format 1 was JSON
		format = 1
	}
	if err := checkKnown(int(min(format, 1<<31))); err != nil {
		return s, err
	}
	s.Format, b = storeFormat, b[n:] // what is written next names the new one
	for _, field := range [...]*uint64{&s.Index, &s.Term, &s.Tx, &s.Purge, &s.Registry, &s.Expiry} {
		if *field, n = binary.Uvarint(b); n <= 0 {
			return s, bad
		}
		b = b[n:]
	}
	clock, n := binary.Varint(b)
	if n <= 0 || len(b)-n < len(s.Digest)+len(s.MaxID) {
		return s, bad
	}
	s.Clock, b = fact.Instant(clock), b[n:]
	b = b[copy(s.Digest[:], b):]
	s.Epoch = string(b[copy(s.MaxID[:], b):])
	return s, nil
}

// firstEpoch names the epoch of a new store after its first entry, which is
// the same on every node.
func firstEpoch(proposedAt fact.Instant, term uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(proposedAt))
	binary.BigEndian.PutUint64(b[8:], term)
	return epochName(b[:])
}

func epochName(seed []byte) string {
	sum := sha256.Sum256(seed)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:5]))
}

// readTx reads the record of a tx.
func readTx(r pebble.Reader, tx uint64) (txRecord, error) {
	b, err := get(r, txKey(tx))
	if err != nil {
		return txRecord{}, err
	}
	if b == nil {
		return txRecord{}, fact.Errorf(fact.StorageCorruption, "tx %d has no record", tx)
	}
	return decodeTxRecord(b)
}

// digestAt returns the digest of the state at a tx; that of tx 0 is zero.
func digestAt(r pebble.Reader, tx uint64) ([32]byte, error) {
	if tx == 0 {
		return [32]byte{}, nil
	}
	rec, err := readTx(r, tx)
	return rec.Digest, err
}
