package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"abagraph/fact"
)

// The gates of reads that cost more than a look. A tenant never takes all places of
// one, so that another's read finds a place however many the first one sends.
const (
	// maxWhole reads that look at everything run at a time, half of them one
	// tenant's.
	maxWhole = 4
	// DefaultHeavyReads walks, paths, searches and packets of one tenant run at a
	// time; heavyTenants times as many of all tenants.
	DefaultHeavyReads = 16
	heavyTenants      = 4
	// maxWaiting reads of one tenant wait for a place.
	maxWaiting = 256
	// wholePatience and heavyPatience are how long a read waits for a place.
	wholePatience = 5 * time.Second
	heavyPatience = 2 * time.Second
)

// gate lets so many in at a time, and no more than a share of them for one tenant.
// A place that becomes free goes to the waiting tenant that holds the fewest.
type gate struct {
	places, share int
	patience      time.Duration
	what          string // it lets in, in the plural
	refused       *refusals

	mu      sync.Mutex
	taken   int
	held    map[string]int
	waiting map[string][]chan struct{} // of each tenant, in the order of coming
	tenants []string                   // that wait, in the order of coming
}

func newGate(places, share int, patience time.Duration, what string, refused *refusals) *gate {
	return &gate{places: places, share: share, patience: patience, what: what, refused: refused,
		held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// enter waits for a place and takes it. leave gives it back.
func (g *gate) enter(ctx context.Context, c Caller) (leave func(), err error) {
	tenant := c.Tenant
	turn, err := g.ask(tenant)
	if err != nil {
		return nil, err
	}
	leave = func() { g.leave(tenant) }
	select {
	case <-turn:
		return leave, nil
	default:
	}
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-turn:
		return leave, nil
	case <-timer.C:
		err = g.errBusy()
	case <-ctx.Done():
		err = ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fact.Errorf(fact.Timeout, "the read timed out while other %s were under way", g.what)
		}
	}
	if !g.forget(tenant, turn) {
		leave() // the turn came at the same time
	}
	return nil, err
}

func (g *gate) errBusy() error {
	g.refused.count(refusedHeavy)
	return fact.Errorf(fact.RateLimited, "too many %s of this tenant, or of all, are under way on this node; try again in a moment", g.what)
}

// ask takes a place, whose turn is closed then, or waits in line.
func (g *gate) ask(tenant string) (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	turn := make(chan struct{})
	if g.taken < g.places && g.held[tenant] < g.share {
		g.take(tenant)
		close(turn)
		return turn, nil
	}
	if len(g.waiting[tenant]) >= maxWaiting {
		return nil, g.errBusy()
	}
	if len(g.waiting[tenant]) == 0 {
		g.tenants = append(g.tenants, tenant)
	}
	g.waiting[tenant] = append(g.waiting[tenant], turn)
	return turn, nil
}

func (g *gate) take(tenant string) {
	g.taken++
	g.held[tenant]++
}

func (g *gate) leave(tenant string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
	if g.held[tenant]--; g.held[tenant] == 0 {
		delete(g.held, tenant)
	}
	next, found := "", false
	for _, t := range g.tenants {
		if g.held[t] < g.share && (!found || g.held[t] < g.held[next]) {
			next, found = t, true
		}
	}
	if !found {
		return
	}
	turn := g.waiting[next][0]
	g.drop(next, 0)
	g.take(next)
	close(turn)
}

// forget leaves the line; false = the turn has come.
func (g *gate) forget(tenant string, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting[tenant], turn)
	if i < 0 {
		return false
	}
	g.drop(tenant, i)
	return true
}

func (g *gate) drop(tenant string, i int) {
	g.waiting[tenant] = slices.Delete(g.waiting[tenant], i, i+1)
	if len(g.waiting[tenant]) == 0 {
		delete(g.waiting, tenant)
		g.tenants = slices.DeleteFunc(g.tenants, func(t string) bool { return t == tenant })
	}
}
