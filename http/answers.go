package http

import (
	"net/http"
	"sync"
	"sync/atomic"

	"abagraph/fact"
	"abagraph/memory"
)

const (
	// largeAnswer is what an answer may have without counting.
	largeAnswer = 1 << 20
	// DefaultMaxSending is how many bytes of larger ones are sent at a time, half of
	// them to one tenant.
	DefaultMaxSending = 512 << 20
)

// answers bounds the large answers that are being sent: each is in memory until its
// reader has taken it, and readers can be slow.
type answers struct {
	most    int64
	refused atomic.Uint64

	mu    sync.Mutex
	taken int64
	held  map[string]int64 // of each tenant
}

func newAnswers(most int64) *answers { return &answers{most: most, held: map[string]int64{}} }

// enter counts an answer; leave takes it off again. With must it is counted whatever is
// under way. One alone is always let in. An operator who names no tenant has no share.
func (a *answers) enter(c memory.Caller, size int, must bool) (leave func(), err error) {
	n, all := int64(size), c.Operator && c.Tenant == ""
	a.mu.Lock()
	defer a.mu.Unlock()
	held := a.held[c.Tenant]
	full := a.taken > 0 && a.taken+n > a.most || !all && held > 0 && held+n > a.most/2
	if full && !must {
		a.refused.Add(1)
		return nil, fact.Errorf(fact.RateLimited, "too many large answers of this tenant, or of all, are being sent by this node; read them, ask for less, or try again in a moment")
	}
	a.taken += n
	a.held[c.Tenant] += n
	return func() { a.leave(c.Tenant, n) }, nil
}

func (a *answers) leave(tenant string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken -= n
	if a.held[tenant] -= n; a.held[tenant] == 0 {
		delete(a.held, tenant)
	}
}

// sendWhole writes an answer, as long as not too many large ones are under way. What a
// request has changed is told in any case.
func (c *call) sendWhole(status int, b []byte) error {
	if len(b) <= largeAnswer || c.r.Method == http.MethodHead {
		c.write(status, b)
		return nil
	}
	leave, err := c.server.answers.enter(c.caller, len(b), c.r.Method != http.MethodGet)
	if err != nil {
		return err
	}
	defer leave()
	c.write(status, b)
	return nil
}
