package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/memory"
)

// reporting is how many reports are made at the same time.
const reporting = 2

// ReportOptions are what a Reporter needs; all of them are required.
type ReportOptions struct {
	Memory *memory.Service
	// Leads tells whether this node leads.
	Leads func() bool
	// Now reads the clock by which reports are due.
	Now func() time.Time
	// Every is the time from one look to the next.
	Every  time.Duration
	Logger *slog.Logger
}

// Reporter has reports made when they are due. Stop ends it.
type Reporter struct {
	o    ReportOptions
	stop context.CancelFunc
	done chan struct{}
}

// StartReports begins to look what is due.
func StartReports(o ReportOptions) *Reporter {
	ctx, stop := context.WithCancel(context.Background())
	r := &Reporter{o: o, stop: stop, done: make(chan struct{})}
	go r.run(ctx)
	return r
}

// Stop ends the looking, and waits for what is under way to end. It must be called
// before the memory is closed.
func (r *Reporter) Stop() {
	r.stop()
	<-r.done
}

func (r *Reporter) run(ctx context.Context) {
	defer close(r.done)
	ticker := time.NewTicker(r.o.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for r.o.Leads() && r.Round(ctx) {
		}
	}
}

// Round makes what is due, of each tenant the first one only, and tells whether there
// is more to do at once.
func (r *Reporter) Round(ctx context.Context) (more bool) {
	now := fact.Instant(r.o.Now().UnixMilli())
	due, err := r.o.Memory.DueReports(ctx, now)
	if err != nil {
		if ctx.Err() == nil {
			r.o.Logger.Warn("abagraph.report.round", "error", err.Error())
		}
		return false
	}
	var made sync.WaitGroup
	places := make(chan struct{}, reporting)
	failed := false
	var mu sync.Mutex
	for i := range due {
		if i > 0 && due[i].Tenant == due[i-1].Tenant { // they come in the order of tenants
			more = true
			continue
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			made.Wait()
			return false
		}
		made.Go(func() {
			defer func() { <-places }()
			if !r.make(ctx, due[i], now) {
				mu.Lock()
				defer mu.Unlock()
				failed = true
			}
		})
	}
	made.Wait()
	return more && !failed && ctx.Err() == nil
}

// make makes one report, and tells whether its time is done.
func (r *Reporter) make(ctx context.Context, due memory.DueReport, now fact.Instant) bool {
	ctx, cancel := context.WithTimeout(ctx, memory.ReportTime+memory.DefaultTimeout)
	defer cancel()
	ran, err := r.o.Memory.RunDueReport(ctx, due, now)
	switch {
	case err != nil:
		r.o.Logger.Warn("abagraph.report.run", "tenant", due.Tenant, "report", due.Name, "error", err.Error())
	case ran:
		r.o.Logger.Info("abagraph.report.run", "tenant", due.Tenant, "report", due.Name, "slot", int64(due.Slot))
	}
	return ran || err == nil
}
