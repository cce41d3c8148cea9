package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/internal/rounds"
	"abagraph/internal/span"
	"abagraph/memory"
)

// reporting is how many reports are made at the same time.
const reporting = 2

// ReportOptions are what a Reporter needs; all but Tracer are required.
type ReportOptions struct {
	Memory *memory.Service
	// Leads tells whether this node leads.
	Leads func() bool
	// Now reads the clock by which reports are due.
	Now func() time.Time
	// Every is the time from one look to the next.
	Every time.Duration
	// Tracer keeps what is done in parts; nil = nobody does.
	Tracer span.Tracer
	Logger *slog.Logger
}

// Reporter has reports made when they are due. Stop ends it, waits for what is under
// way to end, and must be called before the memory is closed.
type Reporter struct {
	o ReportOptions
	*rounds.Rounds
}

// StartReports begins to look what is due.
func StartReports(o ReportOptions) *Reporter {
	r := &Reporter{o: o}
	r.Rounds = rounds.Start(rounds.Options{Every: o.Every, Leads: o.Leads, Round: r.rounds})
	return r
}

// rounds makes all that is due.
func (r *Reporter) rounds(ctx context.Context) {
	for r.o.Leads() && r.Round(ctx) {
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
	ctx, part := span.Work(ctx, r.o.Tracer, "work report")
	defer part.End()
	ran, err := r.o.Memory.RunDueReport(ctx, due, now)
	switch {
	case err != nil:
		part.Fail(string(fact.CodeOf(err)))
		r.o.Logger.Warn("abagraph.report.run", "tenant", due.Tenant, "report", due.Name, "error", err.Error())
	case ran:
		r.o.Logger.Info("abagraph.report.run", "tenant", due.Tenant, "report", due.Name, "slot", int64(due.Slot))
	}
	return ran || err == nil
}
