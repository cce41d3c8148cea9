package memory

import (
	"bytes"
	"testing"
	"time"

	"abagraph/fact"
)

// TestIDsSort: one node's ids are UUIDs v7 that sort as they were made: in one
// batch, from batch to batch within a millisecond, and over a clock that steps back.
func TestIDsSort(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	s := &Service{now: func() time.Time { return at }}
	var last fact.ID
	for step := range 60 {
		at = at.Add(time.Duration(step%3-1) * time.Millisecond)
		for range 10_000 {
			id := s.newID()
			if bytes.Compare(id[:], last[:]) <= 0 {
				t.Fatalf("%s does not sort after %s", id, last)
			}
			if id[6]>>4 != 7 || id[8]>>6 != 2 {
				t.Fatalf("%s is no UUID v7", id)
			}
			last = id
		}
	}
}
