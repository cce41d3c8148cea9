package connect

import "sync"

// How many sources are asked at the same time in the background, of all tenants and
// of one.
const (
	maxAtOnce   = 8
	maxOfTenant = 2
)

// Places are the places of what goes on in the background: a few in all, and fewer for
// one tenant, so that sources that hang hold up no other tenant. The zero value is
// ready, and safe for concurrent use.
type Places struct {
	mu    sync.Mutex
	taken int
	of    map[string]int // by tenant
}

// Enter takes a place; false = there is none now.
func (p *Places) Enter(tenant string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == maxAtOnce || p.of[tenant] == maxOfTenant {
		return false
	}
	if p.of == nil {
		p.of = make(map[string]int)
	}
	p.taken++
	p.of[tenant]++
	return true
}

// Leave gives a place back.
func (p *Places) Leave(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.of[tenant]--; p.of[tenant] == 0 {
		delete(p.of, tenant)
	}
}
