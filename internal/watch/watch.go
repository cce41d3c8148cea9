package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"abagraph/internal/outbound"
	"abagraph/memory"
)

// Limits of one round.
const (
	roundTime   = 5 * time.Minute
	webhookTime = 10 * time.Second
	// telling is how many webhooks are told at the same time.
	telling = 4
)

// Options are what a Watcher needs; all of them are required.
type Options struct {
	Memory *memory.Service
	// Guard is the way out.
	Guard *outbound.Guard
	// Leads tells whether this node leads.
	Leads func() bool
	// Every is the time from one round to the next.
	Every  time.Duration
	Logger *slog.Logger
}

// Watcher looks at alerts. Stop ends it.
type Watcher struct {
	o    Options
	stop context.CancelFunc
	done chan struct{}
}

// Start begins to look.
func Start(o Options) *Watcher {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watcher{o: o, stop: stop, done: make(chan struct{})}
	go w.run(ctx)
	return w
}

// Stop ends the looking, and waits for what is under way to end. It must be called
// before the memory is closed.
func (w *Watcher) Stop() {
	w.stop()
	<-w.done
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	ticker := time.NewTicker(w.o.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if w.o.Leads() {
			w.Round(ctx)
		}
	}
}

// Round looks once at every alert, and tells the webhooks.
func (w *Watcher) Round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	tenants, err := w.o.Memory.WatchedTenants(ctx)
	if err != nil {
		w.failed("", err)
		return
	}
	var told sync.WaitGroup
	defer told.Wait()
	places := make(chan struct{}, telling)
	for _, tenant := range tenants {
		changed, err := w.o.Memory.LookAtAlerts(ctx, tenant)
		if err != nil {
			w.failed(tenant, err)
		}
		for i := range changed {
			w.o.Logger.Info("abagraph.alert."+changed[i].State, "tenant", tenant, "alert", changed[i].Name, "kind", changed[i].Kind)
		}
		untold, err := w.o.Memory.UntoldAlerts(ctx, tenant)
		if err != nil {
			w.failed(tenant, err)
			continue
		}
		for i := range untold {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			told.Go(func() {
				defer func() { <-places }()
				w.tell(ctx, tenant, &untold[i])
			})
		}
	}
}

func (w *Watcher) failed(tenant string, err error) {
	w.o.Logger.Warn("abagraph.alert.error", "tenant", tenant, "error", err.Error())
}
