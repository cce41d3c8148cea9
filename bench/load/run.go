package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Op does one operation and waits for its answer. It returns how many units it
// moved: 1 for a single fact, 100 for a batch of a hundred.
type Op func(ctx context.Context) (units int, err error)

// Sample is what one run measured.
type Sample struct {
	Clients  int
	Elapsed  time.Duration
	Ops      uint64
	Units    uint64
	Errors   uint64
	FirstErr error
	P50, P99 time.Duration
	// ServerCPU is how many cores the servers kept busy, 0 if not measured.
	ServerCPU float64
	// PerSync is how many facts one synced write of the log carried, 0 if not
	// counted.
	PerSync float64
}

// Rate returns units per second.
func (s Sample) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Units) / s.Elapsed.Seconds()
}

// Err returns an error if the run counted none or failed operations.
func (s Sample) Err() error {
	if s.Errors > 0 {
		return fmt.Errorf("%d of %d operations failed, the first with: %w", s.Errors, s.Ops+s.Errors, s.FirstErr)
	}
	if s.Ops == 0 {
		return fmt.Errorf("not one operation was answered in %v", s.Elapsed)
	}
	return nil
}

// Run calls each op in a loop of its own until the time is over, and waits for
// the last answers. The rate counts what was answered within the time; the
// first tenth of it warms up and is not counted.
func Run(ctx context.Context, ops []Op, length time.Duration) Sample {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now().Add(length / 10)
	end := start.Add(length)
	parts := make([]part, len(ops))
	var clients sync.WaitGroup
	for i, op := range ops {
		clients.Go(func() { parts[i].run(ctx, op, start, end) })
	}
	clients.Wait()
	sample := Sample{Clients: len(ops), Elapsed: length}
	var all Histogram
	for i := range parts {
		p := &parts[i]
		all.Merge(&p.latency)
		sample.Units += p.units
		sample.Errors += p.errors
		if sample.FirstErr == nil {
			sample.FirstErr = p.firstErr
		}
	}
	sample.Ops = all.Count()
	sample.P50, sample.P99 = all.Percentile(0.5), all.Percentile(0.99)
	return sample
}

// part is one client's share of a run.
type part struct {
	latency  Histogram
	units    uint64
	errors   uint64
	firstErr error
}

// errorsMax ends a client that only fails, instead of letting it spin.
const errorsMax = 10

func (p *part) run(ctx context.Context, op Op, start, end time.Time) {
	for {
		before := time.Now()
		if before.After(end) || ctx.Err() != nil {
			return
		}
		units, err := op(ctx)
		after := time.Now()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			p.errors++
			if p.firstErr == nil {
				p.firstErr = err
			}
			if p.errors >= errorsMax {
				return
			}
			continue
		}
		if before.Before(start) || after.After(end) {
			continue
		}
		p.latency.Add(after.Sub(before))
		p.units += uint64(units)
	}
}
