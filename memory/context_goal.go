package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/memory/packet"
	"abagraph/memory/search"
)

// maxGoalHits is how many facts a packet takes from a search for its goal.
const maxGoalHits = 24

// Where a request names no seed that exists, the subjects of the best hits are
// taken for seeds: so many, out of so many hits.
const (
	maxAdopted     = 3
	maxAdoptedFrom = 8
)

// leastJudged is how many candidates are judged by the goal in any case, and
// leastLine the tokens that a fact takes at least, about.
const (
	leastJudged = 128
	leastLine   = 20
)

// maxWhy is how many terms a packet names for the relevance of one fact.
const maxWhy = 8

// goal returns the search for the packet's goal. Proximity is a part of the
// packet's own ranking, so that the search goes by words alone.
func (b *briefing) goal() *SearchQuery {
	return &SearchQuery{Read: b.q.Read, Question: b.q.Goal, Top: maxGoalHits, Mode: HybridSearch, IncludeRetracted: b.q.IncludeRetracted}
}

// search adds the facts that answer the goal best.
func (b *briefing) search() error {
	if b.q.Goal == "" {
		return nil
	}
	answer, err := b.s.find(b.r, b.goal())
	if err != nil {
		return err
	}
	list := make([]fact.Fact, len(answer.Hits))
	for i := range answer.Hits {
		list[i] = answer.Hits[i].Fact
	}
	b.scanned += answer.scanned
	b.cosines = answer.cosines
	b.step(fmt.Sprintf("search: %d hits, %s", len(list), answer.Mode))
	from := len(b.candidates)
	b.add(list, packet.Unreached)
	for i := from; i < len(b.candidates); i++ {
		b.candidates[i].Relevance = packet.Unit // until all are judged
	}
	if len(b.seeds) > 0 {
		return nil
	}
	return b.adopt(list)
}

// adopt makes seeds of what the best hits are about, where the request names none
// that exists.
func (b *briefing) adopt(hits []fact.Fact) error {
	for i := range hits {
		name := hits[i].Subject
		if i == maxAdoptedFrom || len(b.seeds) == maxAdopted {
			break
		}
		if slices.Contains(b.seeds, name) {
			continue
		}
		if _, err := b.seed(name); err != nil {
			return err
		}
	}
	b.step("seeds of the search: " + strconv.Itoa(len(b.seeds)))
	return nil
}

// judge gives candidates their relevance to the goal: what it scores above a
// fact that has no word of it, against what the best one does.
func (b *briefing) judge() error {
	if b.q.Goal == "" || len(b.candidates) == 0 {
		return nil
	}
	query := b.s.searchQuery(b.r, b.goal(), nil)
	judged := b.foremost()
	judged = judged[:min(len(judged), b.judged())]
	judges, err := b.judges(query, judged)
	if err != nil {
		return err
	}
	scores := make([]float64, len(b.candidates))
	best := 0.0
	for _, i := range judged {
		f := b.candidates[i].Fact
		j := judges[f.Tenant]
		score, why := j.Score(f)
		if err := j.Err(); err != nil {
			return searchError(err)
		}
		scores[i] = score - j.nothing
		best = max(best, scores[i])
		b.candidates[i].Why = whyText(&why)
	}
	for i := range scores {
		b.candidates[i].Relevance = 0
		if best > 0 && !math.IsInf(best, 0) {
			b.candidates[i].Relevance = int(min(max(scores[i]/best, 0), 1) * packet.Unit)
		}
	}
	return nil
}

// judges makes ready to judge some candidates, by tenant.
func (b *briefing) judges(query *search.Query, judged []int) (map[string]*judge, error) {
	byTenant := map[string][]*fact.Fact{}
	for _, i := range judged {
		f := b.candidates[i].Fact
		byTenant[f.Tenant] = append(byTenant[f.Tenant], f)
	}
	judges := make(map[string]*judge, len(byTenant))
	for tenant, list := range byTenant {
		own := *query
		if query.Dense != nil {
			dense := *query.Dense
			dense.Cosines = b.cosines[tenant]
			own.Dense = &dense
		}
		scorer, err := b.s.indexes.Scorer(b.r.ctx, fact.Scope{Tenant: tenant, Branch: b.r.scope.Branch}, b.r.raw, &own)
		if err != nil {
			return nil, searchError(err)
		}
		scorer.Ahead(list)
		j := &judge{Scorer: scorer}
		j.nothing, _ = scorer.Score(&fact.Fact{})
		judges[tenant] = j
	}
	return judges, nil
}

// judged is how many candidates are judged by the goal, the most promising first:
// twice as many as the packet can hold. What search found is among the first.
func (b *briefing) judged() int {
	holds := b.request().MaxFacts
	if b.q.TokenBudget > 0 {
		holds = min(holds, b.q.TokenBudget/leastLine)
	}
	return max(leastJudged, 2*holds)
}

// judge scores facts of one tenant, and knows what one without any word of the
// goal scores.
type judge struct {
	*search.Scorer
	nothing float64
}

// whyText names the terms that a fact's relevance comes from.
func whyText(w *Why) string {
	var b strings.Builder
	named := map[string]bool{}
	for i := range w.Matches {
		m := &w.Matches[i]
		text := m.Word
		if m.Found != m.Word && m.Cosine < 1 {
			text += "~" + m.Found + " " + strconv.FormatFloat(m.Cosine, 'f', 2, 64)
		}
		if named[text] {
			continue
		}
		if len(named) == maxWhy {
			break
		}
		if len(named) > 0 {
			b.WriteString(", ")
		}
		named[text] = true
		b.WriteString(text)
	}
	return b.String()
}

// beginContext opens the read. With a goal, the index that judges by it is built
// first.
func (s *Service) beginContext(ctx context.Context, c Caller, q *ContextQuery, trace *Trace) (*reading, error) {
	if q.Goal == "" {
		return s.begin(ctx, c, q.Read, 0, trace)
	}
	s.askAhead(ctx, q.Goal)
	return s.beginSearch(ctx, c, q.Read, trace)
}
