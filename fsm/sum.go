package fsm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
)

// Sum is a SHA-256 over every key and value of all tenants, and every tx record: two
// stores that have applied the same entries have the same, however they came by them.
func (v *View) Sum(ctx context.Context) (sum [32]byte, keys uint64, err error) {
	h := sha256.New()
	for _, prefix := range [][]byte{storeKeyOf(storeTx), {spaceTenant}} {
		it, err := openIter(v.snap, prefix, successor(prefix))
		if err != nil {
			return sum, 0, err
		}
		for ok := it.First(); ok; ok = it.Next() {
			if keys++; keys%4096 == 0 && ctx.Err() != nil {
				break
			}
			value, err := it.ValueAndErr()
			if err != nil {
				it.Close()
				return sum, 0, storageError("read a key", err)
			}
			var sizes [16]byte
			binary.BigEndian.PutUint64(sizes[:], uint64(len(it.Key())))
			binary.BigEndian.PutUint64(sizes[8:], uint64(len(value)))
			h.Write(sizes[:])
			h.Write(it.Key())
			h.Write(value)
		}
		if err := it.Close(); err != nil {
			return sum, 0, storageError("read the store", err)
		}
		if err := ctx.Err(); err != nil {
			return sum, 0, err
		}
	}
	return [32]byte(h.Sum(nil)), keys, nil
}
