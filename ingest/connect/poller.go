package connect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/internal/rounds"
	"abagraph/internal/span"
	"abagraph/memory"
)

// Poller pulls every connector of kind poll at an interval, on the node that leads.
// What is slow holds up nothing but itself.
type Poller struct {
	s      *Service
	leads  func() bool
	rounds *rounds.Rounds
	places Places
	pulls  sync.WaitGroup

	mu      sync.Mutex
	waiting []*Connector     // what was due first comes first
	known   map[pullKey]bool // those that wait or are being pulled
}

// StartPoller begins to poll. It must be stopped before the memory is closed.
func (s *Service) StartPoller(every time.Duration, leads func() bool) *Poller {
	p := &Poller{s: s, leads: leads, known: make(map[pullKey]bool)}
	s.logger.Info("abagraph.connector.poll_start", "interval_secs", every.Seconds())
	p.rounds = rounds.Start(rounds.Options{Every: every, Leads: leads, Round: p.round})
	return p
}

// Stop ends the polling, and what is being pulled with it.
func (p *Poller) Stop() {
	p.rounds.Stop()
	p.pulls.Wait()
}

// round puts what is due in line. What waits, or is being pulled still, is not due
// anew.
func (p *Poller) round(ctx context.Context) {
	due, err := p.s.polled(ctx)
	if err != nil {
		p.s.logger.Warn("abagraph.connector.poll_error", "error", err.Error())
		return
	}
	p.mu.Lock()
	for _, k := range due {
		if key := (pullKey{k.Tenant(), k.Name}); !p.known[key] {
			p.known[key] = true
			p.waiting = append(p.waiting, k)
		}
	}
	p.mu.Unlock()
	p.begin(ctx)
}

// begin pulls what waits and finds a place.
func (p *Poller) begin(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var rest []*Connector
	for _, k := range p.waiting {
		if ctx.Err() != nil || !p.places.Enter(k.Tenant()) {
			rest = append(rest, k)
			continue
		}
		p.pulls.Go(func() {
			defer p.end(ctx, pullKey{k.Tenant(), k.Name})
			if p.leads() {
				p.s.poll(ctx, k.Tenant(), k.Name)
			}
		})
	}
	p.waiting = rest
}

// end gives a place back, and to the next one.
func (p *Poller) end(ctx context.Context, k pullKey) {
	p.places.Leave(k.tenant)
	p.mu.Lock()
	delete(p.known, k)
	p.mu.Unlock()
	p.begin(ctx)
}

// Internal is the server itself, in one tenant.
func Internal(tenant string) memory.Caller {
	return memory.Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin, Actor: "abagraph"}
}

func (s *Service) poll(ctx context.Context, tenant, name string) {
	started := time.Now()
	ctx, part := span.Work(ctx, s.tracer, "work poll")
	defer part.End()
	k, done, err := s.Pull(ctx, Internal(tenant), memory.WriteOptions{}, name, nil)
	if ctx.Err() != nil || errors.Is(err, errUnderWay) || errors.Is(err, errMoved) {
		return
	}
	ms := time.Since(started).Milliseconds()
	if err != nil {
		part.Fail(string(fact.CodeOf(err)))
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
	var list []*Connector
	err := s.memory.KeptOfAll(ctx, Internal(""), Prefix, predicate, func(f *fact.Fact) {
		if k := connectorOf(f); k != nil && k.Kind == Poll {
			list = append(list, k)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *Connector) int {
		return cmp.Or(cmp.Compare(a.Tenant(), b.Tenant()), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
