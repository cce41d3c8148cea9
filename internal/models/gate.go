package models

import (
	"context"
	"errors"
	"sync"

	"abagraph/fact"
)

// maxWaiting is how many calls of one tenant may wait for their turn.
const maxWaiting = 64

// gate lets a few calls of each tenant in, so that one whose model hangs holds up
// nobody else's.
type gate struct {
	each    int
	all     chan struct{}
	mu      sync.Mutex
	tenants map[string]*turns
}

// turns are the places of one tenant. They go when nobody uses them.
type turns struct {
	places chan struct{}
	users  int
}

func newGate(each, all int) *gate {
	if each <= 0 {
		each = 4
	}
	if all <= 0 {
		all = 64
	}
	return &gate{each: each, all: make(chan struct{}, all), tenants: map[string]*turns{}}
}

// enter waits for a place among the tenant's, and then among all.
func (g *gate) enter(ctx context.Context, tenant string) (leave func(), err error) {
	t, err := g.join(tenant)
	if err != nil {
		return nil, err
	}
	if err := take(ctx, t.places); err != nil {
		g.part(tenant, t)
		return nil, err
	}
	if err := take(ctx, g.all); err != nil {
		<-t.places
		g.part(tenant, t)
		return nil, err
	}
	return func() {
		<-g.all
		<-t.places
		g.part(tenant, t)
	}, nil
}

func (g *gate) join(tenant string) (*turns, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tenants[tenant]
	if t == nil {
		t = &turns{places: make(chan struct{}, g.each)}
		g.tenants[tenant] = t
	}
	if t.users >= g.each+maxWaiting {
		return nil, fact.Errorf(fact.RateLimited, "too many calls of models are under way for this tenant")
	}
	t.users++
	return t, nil
}

func (g *gate) part(tenant string, t *turns) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(g.tenants, tenant)
	}
}

func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &Failure{Kind: Slow, what: "was not asked in time: the tenant's other calls were under way"}
}
