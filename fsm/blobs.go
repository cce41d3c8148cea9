package fsm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"abagraph/fact"
)

// A blob lies beside its tenant's facts, in pieces, under the hash of the whole.
// It belongs to no branch. Nothing but a purge of the document that it is the text
// of deletes it.

var blobTable = crc32.MakeTable(crc32.Castagnoli)

const blobCheck = 4 // bytes of checksum in front of a piece

// blobKey names a piece.
type blobKey struct {
	tenant string
	hash   [32]byte
	part   uint32
}

// blobMemo is what one Apply call does to the blobs.
type blobMemo struct {
	set  map[blobKey]bool
	gone map[blobKey]bool // with part 0: the whole blob, as it was before the call
}

// addBlob takes a piece that is not there yet.
func (t *txn) addBlob(p *fact.BlobPart) error {
	m := &t.l.blobs
	whole := blobKey{t.space.tenant, p.Hash, 0}
	if m.set[blobKey{t.space.tenant, p.Hash, p.Part}] {
		return nil
	}
	there, err := has(t.l.base, t.space.blob(p.Hash, p.Part))
	if err != nil || there && !m.gone[whole] {
		return err
	}
	for _, other := range t.blobs {
		if other.Hash == p.Hash && other.Part == p.Part {
			return nil
		}
	}
	t.blobs = append(t.blobs, p)
	t.told += len(p.Data)
	return nil
}

// keepBlob writes a piece, and has the digest cover it.
func (l *ledger) keepBlob(d *digest, s space, p *fact.BlobPart) error {
	if _, err := l.space(s); err != nil { // it makes the tenant one that holds data
		return err
	}
	sum := sha256.Sum256(p.Data)
	d.bytes(0xfd, append(binary.BigEndian.AppendUint32(bytes.Clone(p.Hash[:]), p.Part), sum[:]...))
	if l.blobs.set == nil {
		l.blobs.set = make(map[blobKey]bool)
	}
	l.blobs.set[blobKey{s.tenant, p.Hash, p.Part}] = true
	value := binary.BigEndian.AppendUint32(make([]byte, 0, blobCheck+len(p.Data)), crc32.Checksum(p.Data, blobTable))
	return l.batch.Set(s.blob(p.Hash, p.Part), append(value, p.Data...), nil)
}

// dropBlob deletes the text of a document, piece by piece: a range of the store that
// is deleted as one is slow to read past. What merely refers to the text of another
// subject takes nothing along.
func (l *ledger) dropBlob(s space, subject string, o fact.Object) error {
	if o.Kind != fact.Blob {
		return nil
	}
	hash, ok := fact.BlobHash(o.Text)
	if !ok || subject != fact.DocumentOf(hash) {
		return nil
	}
	whole := blobKey{s.tenant, hash, 0}
	prefix := s.blobs(hash)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := l.batch.Delete(bytes.Clone(it.Key()), nil); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return storageError("read the pieces of a blob", err)
	}
	if l.blobs.gone == nil {
		l.blobs.gone = make(map[blobKey]bool)
	}
	l.blobs.gone[whole] = true
	parts := uint32(o.Size/fact.MaxBlobPart) + 1
	for part := uint32(0); part < parts && len(l.blobs.set) > 0; part++ {
		key := blobKey{s.tenant, hash, part}
		if !l.blobs.set[key] {
			continue
		}
		delete(l.blobs.set, key)
		if err := l.batch.Delete(s.blob(hash, part), nil); err != nil {
			return err
		}
	}
	return nil
}

// checkBlob judges the key and the value of a piece.
func checkBlob(rest, value []byte) error {
	if len(rest) != 36 || len(value) <= blobCheck || binary.BigEndian.Uint32(value) != crc32.Checksum(value[blobCheck:], blobTable) {
		return fact.Errorf(fact.StorageCorruption, "its checksum is not right")
	}
	return nil
}

// BlobPart returns a piece of a blob; nil where there is none.
func (v *View) BlobPart(_ context.Context, scope fact.Scope, hash [32]byte, part uint32) ([]byte, error) {
	value, err := get(v.snap, space{tenant: scope.Tenant}.blob(hash, part))
	if err != nil || value == nil {
		return nil, err
	}
	if len(value) <= blobCheck || binary.BigEndian.Uint32(value) != crc32.Checksum(value[blobCheck:], blobTable) {
		return nil, fact.Errorf(fact.StorageCorruption, "a piece of a blob is damaged")
	}
	return value[blobCheck:], nil
}
