package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
	"abagraph/internal/rounds"
	"abagraph/internal/span"
	"abagraph/memory"
)

// Limits of one round.
const (
	// lookTime bounds the look at one tenant's facts, and tellTime what its webhooks
	// take of a round; those that were not reached come first in the next one.
	lookTime    = time.Minute
	tellTime    = 30 * time.Second
	webhookTime = 10 * time.Second
	// atOnce is how many tenants are looked after at the same time, and telling how
	// many webhooks of one are told.
	atOnce  = 4
	telling = 4
	// share is what part of the time the looks at one tenant may take: after a look of
	// a second the next one comes 20 seconds later, or at the next round.
	share = 20
)

// Options are what a Watcher needs; all but Tracer are required.
type Options struct {
	Memory *memory.Service
	// Guard is the way out.
	Guard *outbound.Guard
	// Leads tells whether this node leads.
	Leads func() bool
	// Every is the time from one round to the next.
	Every time.Duration
	// Tracer keeps what is done in parts; nil = nobody does.
	Tracer span.Tracer
	Logger *slog.Logger
}

// Watcher looks at alerts. Stop ends it, waits for what is under way to end, and must be
// called before the memory is closed.
type Watcher struct {
	o Options
	*rounds.Rounds

	mu    sync.Mutex
	rests map[string]time.Time // until when a tenant is not looked at again
	tried map[hook]time.Time   // when a webhook that does not take its state was told last
}

// hook is the webhook of an alert.
type hook struct{ tenant, alert string }

// maxRemembered bounds what is remembered of tenants and webhooks that are gone.
const maxRemembered = 100_000

// Start begins to look.
func Start(o Options) *Watcher {
	w := &Watcher{o: o, rests: make(map[string]time.Time), tried: make(map[hook]time.Time)}
	w.Rounds = rounds.Start(rounds.Options{Every: o.Every, Leads: o.Leads, Round: w.Round})
	return w
}

// Round looks once at the alerts of every tenant, and tells the webhooks. What takes
// long with one tenant holds up no other, as long as there are not several such.
func (w *Watcher) Round(ctx context.Context) {
	tenants, err := w.o.Memory.WatchedTenants(ctx)
	if err != nil {
		w.failed("", err)
		return
	}
	var round sync.WaitGroup
	defer round.Wait()
	places := make(chan struct{}, atOnce)
	for _, tenant := range tenants {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		round.Go(func() {
			defer func() { <-places }()
			w.look(ctx, tenant)
			w.tellAll(ctx, tenant)
		})
	}
}

// look looks at the facts of a tenant, unless the last look took so long that it is too
// early.
func (w *Watcher) look(ctx context.Context, tenant string) {
	if w.resting(tenant) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	ctx, part := span.Work(ctx, w.o.Tracer, "work alerts")
	defer part.End()
	started := time.Now()
	changed, err := w.o.Memory.LookAtAlerts(ctx, tenant)
	w.rest(tenant, time.Since(started))
	if err != nil {
		part.Fail(string(fact.CodeOf(err)))
		w.failed(tenant, err)
	}
	for i := range changed {
		w.o.Logger.Info("abagraph.alert."+changed[i].State, "tenant", tenant, "alert", changed[i].Name, "kind", changed[i].Kind)
	}
}

func (w *Watcher) resting(tenant string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Before(w.rests[tenant])
}

// rest notes how long a look took.
func (w *Watcher) rest(tenant string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rests) >= maxRemembered {
		clear(w.rests)
	}
	delete(w.rests, tenant)
	if pause := (share - 1) * took; pause > w.o.Every {
		w.rests[tenant] = time.Now().Add(pause)
	}
}

func (w *Watcher) failed(tenant string, err error) {
	w.o.Logger.Warn("abagraph.alert.error", "tenant", tenant, "error", err.Error())
}
