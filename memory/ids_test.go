package memory

import (
	"bytes"
	"testing"
	"time"
)

// TestIDsOfABatchSort: the ids of one batch are UUIDs v7 that sort as the batch
// gave its facts, and no two batches share one.
func TestIDsOfABatchSort(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	s := &Service{now: func() time.Time { return at }}
	seen := make(map[[16]byte]bool)
	for range 20 {
		next := s.newIDs()
		last := next()
		for range 10_000 {
			id := next()
			if bytes.Compare(id[:], last[:]) <= 0 {
				t.Fatalf("%s does not sort after %s", id, last)
			}
			if id[6]>>4 != 7 || id[8]>>6 != 2 {
				t.Fatalf("%s is no UUID v7", id)
			}
			if seen[id] {
				t.Fatalf("%s came twice", id)
			}
			seen[id], last = true, id
		}
	}
}
