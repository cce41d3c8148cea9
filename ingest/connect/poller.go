package connect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/memory"
)

// How many connectors are pulled at the same time in the background, of all tenants
// and of one.
const (
	maxAtOnce   = 8
	maxOfTenant = 2
)

// Poller pulls every connector of kind poll at an interval, on the node that leads.
// What is slow holds up nothing but itself.
type Poller struct {
	s      *Service
	leads  func() bool
	every  time.Duration
	places chan struct{}
	pulls  sync.WaitGroup

	mu      sync.Mutex
	running map[string]int // by tenant

	cancel context.CancelFunc
	done   chan struct{}
}

// StartPoller begins to poll. It must be stopped before the memory is closed.
func (s *Service) StartPoller(every time.Duration, leads func() bool) *Poller {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Poller{
		s: s, leads: leads, every: every, places: make(chan struct{}, maxAtOnce), running: make(map[string]int),
		cancel: cancel, done: make(chan struct{}),
	}
	s.logger.Info("abagraph.connector.poll_start", "interval_secs", every.Seconds())
	go p.run(ctx)
	return p
}

// Stop ends the polling, and what is being pulled with it.
func (p *Poller) Stop() {
	p.cancel()
	<-p.done
	p.pulls.Wait()
}

func (p *Poller) run(ctx context.Context) {
	defer close(p.done)
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if p.leads() {
				p.round(ctx)
			}
		}
	}
}

// round begins to pull what is due, each tenant's in a line of its own. A tenant whose
// last round is still under way is left for the next one.
func (p *Poller) round(ctx context.Context) {
	due, err := p.s.polled(ctx)
	if err != nil {
		p.s.logger.Warn("abagraph.connector.poll_error", "error", err.Error())
		return
	}
	for len(due) > 0 {
		n := 1
		for n < len(due) && due[n].Tenant() == due[0].Tenant() {
			n++
		}
		p.line(ctx, due[:n])
		due = due[n:]
	}
}

// line pulls the connectors of one tenant, a few at a time.
func (p *Poller) line(ctx context.Context, list []*Connector) {
	tenant := list[0].Tenant()
	if !p.enter(tenant, maxOfTenant) {
		return
	}
	next := make(chan *Connector, len(list))
	for _, k := range list {
		next <- k
	}
	close(next)
	for range maxOfTenant {
		p.pulls.Go(func() {
			defer p.leave(tenant)
			for k := range next {
				select {
				case p.places <- struct{}{}:
				case <-ctx.Done():
					return
				}
				if p.leads() {
					p.s.poll(ctx, tenant, k.Name)
				}
				<-p.places
			}
		})
	}
}

// enter notes that a tenant's line has begun, with some workers; false = it is under
// way.
func (p *Poller) enter(tenant string, workers int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[tenant] > 0 {
		return false
	}
	p.running[tenant] = workers
	return true
}

func (p *Poller) leave(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[tenant]--; p.running[tenant] == 0 {
		delete(p.running, tenant)
	}
}

// Internal is the server itself, in one tenant.
func Internal(tenant string) memory.Caller {
	return memory.Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin, Actor: "abagraph"}
}

func (s *Service) poll(ctx context.Context, tenant, name string) {
	started := time.Now()
	k, done, err := s.Pull(ctx, Internal(tenant), memory.WriteOptions{}, name, nil)
	if ctx.Err() != nil || errors.Is(err, errUnderWay) {
		return
	}
	ms := time.Since(started).Milliseconds()
	if err != nil {
		event := "abagraph.connector.poll_ingest_err"
		if done == nil || done.Unfetched {
			event = "abagraph.connector.poll_fetch_err"
		}
		s.logger.Warn(event, "name", name, "error", err.Error(), "ms", ms, "tenant", tenant)
		return
	}
	s.logger.Info("abagraph.connector.poll_ingest", append(done.Told(k.Name, tenant), "pages", done.Pages, "ms", ms)...)
}

// polled lists the connectors of kind poll of all tenants, tenant by tenant.
func (s *Service) polled(ctx context.Context) ([]*Connector, error) {
	page, _, err := s.memory.Facts(ctx, Internal(""), &memory.FactsQuery{Read: memory.NewRead(), Predicate: predicate, Limit: fact.MaxLimit}, nil)
	if err != nil {
		return nil, err
	}
	var list []*Connector
	for i := range page.Facts {
		if k := connectorOf(&page.Facts[i]); k != nil && k.Kind == Poll {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b *Connector) int {
		return cmp.Or(cmp.Compare(a.Tenant(), b.Tenant()), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
