package memory

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"abagraph/fact"

	"golang.org/x/time/rate"
)

// Limits are what one tenant may ask of one node. Zero values are no limits, but
// for HeavyReads.
type Limits struct {
	// RequestsPerSecond bounds requests of any kind, and RowsPerSecond the rows
	// (asserts, retracts, guards) of its writes. What was saved of two seconds may
	// be spent at once, and of rows at least one whole transact.
	RequestsPerSecond, RowsPerSecond float64
	// HeavyReads are the walks, paths, searches and context packets that run at a
	// time; 0 = DefaultHeavyReads.
	HeavyReads int
}

// The reasons of refusals, in the order in which they are counted.
const (
	refusedRequests = iota
	refusedRows
	refusedHeavy
	reasons
)

// Refusals are the requests that were refused to protect others (429), by reason.
type Refusals struct {
	Requests uint64 // the tenant's rate of requests
	Rows     uint64 // the tenant's rate of rows written
	Heavy    uint64 // no place for a heavy read
}

type refusals [reasons]atomic.Uint64

func (r *refusals) count(reason int) { r[reason].Add(1) }

// Refusals tells how many requests this node has refused since it started.
func (s *Service) Refusals() Refusals {
	r := &s.refused
	return Refusals{Requests: r[refusedRequests].Load(), Rows: r[refusedRows].Load(), Heavy: r[refusedHeavy].Load()}
}

// maxBuckets bounds the tenants whose rates are remembered.
const maxBuckets = 10_000

// buckets are the token buckets of tenants, one for each rate.
type buckets struct {
	rate  float64 // tokens a second; 0 = no limit
	burst int

	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newBuckets(perSecond float64, atLeast int) *buckets {
	if perSecond <= 0 {
		return nil
	}
	return &buckets{rate: perSecond, burst: max(atLeast, int(math.Ceil(2*perSecond))), all: map[string]*rate.Limiter{}}
}

// spend takes tokens of a tenant, or tells how long it takes until they are there.
func (b *buckets) spend(tenant string, tokens int, now time.Time) (wait time.Duration) {
	if b == nil || tokens <= 0 {
		return 0
	}
	r := b.of(tenant, now).ReserveN(now, min(tokens, b.burst))
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// of is a tenant's bucket. Where there are too many, the full ones go: they are as
// new ones would be.
func (b *buckets) of(tenant string, now time.Time) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.all[tenant]; l != nil {
		return l
	}
	if len(b.all) >= maxBuckets {
		for name, l := range b.all {
			if l.TokensAt(now) >= float64(b.burst) {
				delete(b.all, name)
			}
		}
		if len(b.all) >= maxBuckets {
			clear(b.all) // so many busy tenants: each begins anew
		}
	}
	l := rate.NewLimiter(rate.Limit(b.rate), b.burst)
	b.all[tenant] = l
	return l
}

// limit sets up what one tenant may ask.
func (s *Service) limit(l Limits) {
	if l.HeavyReads <= 0 {
		l.HeavyReads = DefaultHeavyReads
	}
	s.requests, s.rows = newBuckets(l.RequestsPerSecond, 1), newBuckets(l.RowsPerSecond, fact.MaxTransactRows)
	s.whole = newGate(maxWhole, maxWhole/2, wholePatience, "reads of everything", &s.refused)
	s.heavy = newGate(l.HeavyReads*heavyTenants, l.HeavyReads, heavyPatience, "walks, searches and packets", &s.refused)
}

// limited reports whether a caller's requests count. An operator who names no tenant
// mends what is wrong, and is never turned away.
func (c Caller) limited() bool { return !c.Operator || c.Tenant != "" }

// Admit counts one request of a caller, before anything is done for it. The error is
// RateLimited.
func (s *Service) Admit(c Caller) error {
	if s.requests == nil || !c.limited() {
		return nil
	}
	if wait := s.requests.spend(c.Tenant, 1, s.now()); wait > 0 {
		s.refused.count(refusedRequests)
		return errRate("requests", s.requests.rate, wait)
	}
	return nil
}

// admitRows counts the rows of a write.
func (s *Service) admitRows(c Caller, w *fact.Write) error {
	if s.rows == nil || w == nil || !c.limited() {
		return nil
	}
	if wait := s.rows.spend(c.Tenant, len(w.Asserts)+len(w.Retracts)+len(w.Guards), s.now()); wait > 0 {
		s.refused.count(refusedRows)
		return errRate("rows written", s.rows.rate, wait)
	}
	return nil
}

func errRate(what string, perSecond float64, wait time.Duration) error {
	err := fact.Errorf(fact.RateLimited, "this tenant may have %v %s a second on this node, and has had more; nothing was done", perSecond, what)
	err.RetryAfter = wait
	return err
}
