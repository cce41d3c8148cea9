package suite

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/proc"
)

// system is one contestant: it opens clients, and its servers' cost is counted.
type system struct {
	name string
	// open makes n clients, which the contest closes again.
	open func(n int) ([]load.Op, func(), error)
	// processes are its servers, where they are processes of their own.
	processes []*proc.Process
	// syncs returns the facts written and the synced writes of the log so far.
	syncs func() (facts, calls float64, err error)
}

// results are the samples by number of clients and by system, one a round.
type results map[int]map[string][]load.Sample

// contest loads each system in turns, round by round, for every number of
// clients.
func contest(ctx context.Context, env Env, systems []system) (results, error) {
	all := results{}
	for _, clients := range env.Clients {
		all[clients] = map[string][]load.Sample{}
		if err := round(ctx, env, systems, clients, all[clients]); err != nil {
			return nil, err
		}
		for _, s := range systems {
			samples := all[clients][s.name]
			env.progress("%-11s  %-18s %9.0f /s  p50 %-8s p99 %s", counted(clients, "client"), s.name,
				rateOf(samples), short(latency(samples, p50)), short(latency(samples, p99)))
		}
	}
	return all, nil
}

func round(ctx context.Context, env Env, systems []system, clients int, into map[string][]load.Sample) error {
	ops := make([][]load.Op, len(systems))
	for i, s := range systems {
		opened, closer, err := s.open(clients)
		if err != nil {
			return fmt.Errorf("opening %d clients of %s: %w", clients, s.name, err)
		}
		defer closer()
		ops[i] = opened
	}
	for range env.Rounds {
		for i, s := range systems {
			sample, err := s.measure(ctx, ops[i], env.Length)
			if err != nil {
				return fmt.Errorf("%s with %d clients: %w", s.name, clients, err)
			}
			into[s.name] = append(into[s.name], sample)
		}
	}
	return nil
}

// measure runs one system once.
func (s system) measure(ctx context.Context, ops []load.Op, length time.Duration) (load.Sample, error) {
	runtime.GC() // garbage of one run is not collected in the next
	var facts, calls float64
	var err error
	if s.syncs != nil {
		if facts, calls, err = s.syncs(); err != nil {
			return load.Sample{}, err
		}
	}
	cpu, began := proc.CPU(s.processes...), time.Now()
	sample := load.Run(ctx, ops, length)
	sample.ServerCPU = float64(proc.CPU(s.processes...)-cpu) / float64(time.Since(began))
	if err := ctx.Err(); err != nil {
		return load.Sample{}, err
	}
	if err := sample.Err(); err != nil {
		return load.Sample{}, err
	}
	if s.syncs != nil {
		factsAfter, callsAfter, err := s.syncs()
		if err != nil {
			return load.Sample{}, err
		}
		if callsAfter > calls {
			sample.PerSync = (factsAfter - facts) / (callsAfter - calls)
		}
	}
	return sample, nil
}
