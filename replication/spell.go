package replication

import (
	"sync/atomic"
	"time"
)

// spell is how long something has been under way that one goroutine does at a time.
type spell struct {
	start time.Time
	since atomic.Int64 // nanoseconds of start; 0 = nothing is under way
}

func newSpell() spell { return spell{start: time.Now()} }

func (s *spell) begin() { s.since.Store(int64(time.Since(s.start)) | 1) }

func (s *spell) end() { s.since.Store(0) }

// lasts is how long it has been; 0 = nothing is under way.
func (s *spell) lasts() time.Duration {
	since := s.since.Load()
	if since == 0 {
		return 0
	}
	return time.Since(s.start) - time.Duration(since)
}
