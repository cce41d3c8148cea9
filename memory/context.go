package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/memory/packet"
)

// Defaults of a context packet.
const (
	DefaultContextFacts = 64
	DefaultContextPages = 8
)

// ContextQuery asks for everything that a task should know. Make it with
// NewContextQuery.
type ContextQuery struct {
	Read
	// Goal is the task, in words.
	Goal string
	// Seeds are entities to start from; Project is one more, and narrows the walk
	// to what is around it.
	Seeds   []string
	Project string
	// MaxFacts caps the facts, up to packet.MaxFacts. It is the default where
	// FactsGiven is not set, and with a budget then the ceiling.
	MaxFacts   int
	FactsGiven bool
	MaxPages   int
	// TokenBudget is what the system prompt may take, in tokens; 0 = no budget.
	TokenBudget int
	// ClusterThreshold is the least cosine at which near-duplicates count as one;
	// 0 = off.
	ClusterThreshold float64
	IncludeRecent    bool
	IncludeConflicts bool
	// IncludeRetracted reinstates, with as_of, what was retracted since.
	IncludeRetracted bool
	Style            packet.Style
	Role             string
	// Model folds what is dropped into one derived fact; nil = it is dropped.
	Model *byok.Config
	// Notes are warnings about the request, which the packet carries.
	Notes []string
}

// NewContextQuery asks for the defaults, in the present.
func NewContextQuery() *ContextQuery {
	return &ContextQuery{
		Read: NewRead(), MaxFacts: DefaultContextFacts, MaxPages: DefaultContextPages, IncludeRecent: true, IncludeConflicts: true,
	}
}

// Context assembles a packet. It reads one state of the store and writes
// nothing; the same query on the same state gives the same packet. What does not
// exist is a warning in the packet, not an error.
func (s *Service) Context(ctx context.Context, c Caller, q *ContextQuery, trace *Trace) (*packet.Packet, Meta, error) {
	if err := q.check(); err != nil {
		return nil, Meta{}, err
	}
	if err := s.checkModel("compact_model", q.Model); err != nil {
		return nil, Meta{}, err
	}
	patience := ctx
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	leave, err := s.heavy.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	r, err := s.beginContext(ctx, c, q, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	b := newBriefing(s, r, q)
	if err := b.read(); err != nil {
		return nil, r.meta, err
	}
	trace.Step("read", "seed entities → indexed fact lookup → 1-hop graph walk → search → wiki page lookup")
	p, err := packet.Assemble(b.request(), b.candidates, b.pages, s.tokens.within(ctx))
	if err != nil {
		return nil, r.meta, fmt.Errorf("assemble a packet: %w", err)
	}
	if q.Model != nil && p.Dropped > 0 {
		if p, err = b.fold(patience, p); err != nil {
			return nil, r.meta, err
		}
	}
	b.finish(p)
	r.meta.Backfilled = backfilledFacts(p.Facts)
	trace.Step("assemble", "dedup → corroborate → rank → trim → render")
	explainContext(trace, b, p)
	return p, r.meta, nil
}

func explainContext(trace *Trace, b *briefing, p *packet.Packet) {
	if trace == nil {
		return
	}
	trace.Name("context", "parse request → seed entities → indexed fact lookup → 1-hop graph walk → wiki page lookup")
	trace.Int("entities", len(p.Entities))
	trace.Int("facts", len(p.Facts))
	trace.Int("pages", len(p.Pages))
	trace.Int("collapsed", p.Collapsed)
	corroborated := 0
	for i := range p.Facts {
		if len(p.Facts[i].Corroboration.Sources) > 1 {
			corroborated++
		}
	}
	trace.Int("corroborated", corroborated)
	trace.Int("candidates", len(b.candidates))
	trace.Int("candidates_scanned", b.scanned)
	trace.Int("seeds", len(b.seeds))
	trace.Int("neighbours", b.walked)
}

// backfilledFacts counts the declared facts of a packet by their batch (C-28).
func backfilledFacts(facts []packet.Fact) []fact.BatchCount {
	return countBatches(len(facts), func(i int) uint64 { return facts[i].Batch })
}
