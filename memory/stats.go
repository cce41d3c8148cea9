package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// Stats counts what the caller may see.
//
// Those of a branch are counted fact by fact; a few such looks at a time are enough.
func (s *Service) Stats(ctx context.Context, c Caller, read Read, trace *Trace) (fact.Stats, Meta, error) {
	if c.Scope(read.Branch).Branch != fact.MainBranch {
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		leave, err := s.whole.enter(ctx, c)
		if err != nil {
			return fact.Stats{}, Meta{}, err
		}
		defer leave()
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return fact.Stats{}, Meta{}, err
	}
	defer r.close()
	stats, err := r.view.Stats(r.ctx, r.scope)
	if err != nil {
		return fact.Stats{}, r.meta, fmt.Errorf("read the counters: %w", err)
	}
	if !r.scope.All {
		stats.Tenants = 1
	}
	trace.Step("execute", "counters")
	trace.Name("stats", "read counters")
	trace.Int("facts", int(stats.Total()))
	trace.Int("entities", int(stats.Entities))
	return stats, r.meta, nil
}

// StoreStats counts the whole store as this node has it, for metrics.
func (s *Service) StoreStats(ctx context.Context) (fact.Stats, error) {
	view, err := s.view(ctx)
	if err != nil {
		return fact.Stats{}, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	return view.Stats(ctx, fact.Scope{All: true, Branch: fact.MainBranch})
}
