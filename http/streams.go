package http

import (
	"sync"
	"sync/atomic"

	"abagraph/fact"
	"abagraph/memory"
)

// streams are the places of open streams, of which one tenant has a share.
type streams struct {
	places, share int
	refused       atomic.Uint64

	mu    sync.Mutex
	taken int
	held  map[string]int // of each tenant
}

func newStreams(places, share int) *streams {
	return &streams{places: places, share: share, held: map[string]int{}}
}

// enter takes a place; leave gives it back. An operator who names no tenant has no
// share.
func (s *streams) enter(c memory.Caller) (leave func(), err error) {
	all := c.Operator && c.Tenant == ""
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken >= s.places:
		s.refused.Add(1)
		return nil, fact.Errorf(fact.RateLimited, "this node has %d open streams already", s.places)
	case !all && s.held[c.Tenant] >= s.share:
		s.refused.Add(1)
		return nil, fact.Errorf(fact.RateLimited, "this tenant has %d open streams on this node already", s.share)
	}
	s.taken++
	if !all {
		s.held[c.Tenant]++
	}
	return func() { s.leave(c.Tenant, all) }, nil
}

func (s *streams) leave(tenant string, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if all {
		return
	}
	if s.held[tenant]--; s.held[tenant] == 0 {
		delete(s.held, tenant)
	}
}

func (s *streams) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}
