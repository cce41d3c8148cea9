package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"abagraph/fact"
	"abagraph/memory/check"
)

// MaxContradictionFacts is how many facts of one contradiction are shown.
const MaxContradictionFacts = 100

// FactcheckQuery asks what contradicts what. Make its Read with NewRead.
type FactcheckQuery struct {
	Read
	Narrow
	check.Rules
	// Integrity looks for orphans and dangling references, too.
	Integrity bool
}

// Factcheck is a page of contradictions, by subject, predicate and kind. Counts
// and Total are of all from the place on where the page begins; Next is where the
// next one does, "" = there is none.
type Factcheck struct {
	Contradictions []Contradiction
	Counts         [3]int // by check.Kind
	Total          int
	// Orphans are subjects that no edge leads to or from; Dangling the edges
	// whose object is no subject.
	Orphans       []Orphan
	OrphanTotal   int
	Dangling      []Edge
	DanglingTotal int
	Next          string
}

// Contradiction is one of a check, with its first facts.
type Contradiction struct {
	check.Contradiction
	Total int // facts, those that are not shown included
}

// Orphan is an entity without edges.
type Orphan struct {
	ID        string
	Tenant    string
	FactCount int
}

// Factcheck looks at what holds, subject after subject, and writes nothing.
func (s *Service) Factcheck(ctx context.Context, c Caller, q *FactcheckQuery, trace *Trace) (*Factcheck, Meta, error) {
	return s.factcheckFor(ctx, s.timeout, c, q, trace)
}

// factcheckFor is Factcheck for one that may take another time than a request's.
func (s *Service) factcheckFor(ctx context.Context, limit time.Duration, c Caller, q *FactcheckQuery, trace *Trace) (*Factcheck, Meta, error) {
	r, done, err := s.lookingFor(ctx, limit, c, q.Read, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer done()
	k := &checker{r: r, q: q, g: newGrapher(r, nil), page: listing{limit: q.size()}, found: &Factcheck{}}
	if err := k.run(); err != nil {
		return nil, r.meta, err
	}
	f := k.found
	if k.subjects == 0 {
		if err := r.warnNothing(q.Subject); err != nil {
			return nil, r.meta, err
		}
	}
	trace.Step("execute", "by_subject")
	trace.Name("factcheck", "by_subject index → what holds, what is active, candidates → compare")
	trace.Int("candidates_scanned", k.scanned+k.g.scanned)
	trace.Int("subjects", k.subjects)
	trace.Int("contradictions", f.Total)
	trace.Int("results", len(f.Contradictions))
	trace.Bool("limit_hit", f.Next != "")
	return f, r.meta, nil
}

// checker goes through the subjects.
type checker struct {
	r        *reading
	q        *FactcheckQuery
	g        *grapher
	page     listing
	found    *Factcheck
	subjects int
	scanned  int
}

// What a checker asks of each subject, by the place of its list.
const (
	askHolding = iota
	askActive
	askCandidates
)

func (k *checker) run() error {
	n, at := &k.q.Narrow, k.r.at
	q := n.subjects(k.r,
		n.query(at),
		n.byStatus(at, fact.Active, fact.NoInstant),
		n.byStatus(at, fact.Candidate, k.r.instant()))
	err := k.r.view.EachSubject(k.r.ctx, q, func(s *fact.SubjectFacts) (bool, error) {
		k.subjects++
		k.scanned += s.Scanned
		if !n.admit(s) {
			return false, nil
		}
		return true, k.subject(s)
	})
	if err != nil {
		return fmt.Errorf("check the facts: %w", err)
	}
	return nil
}

func (k *checker) subject(s *fact.SubjectFacts) error {
	listed := !k.page.full
	holding := s.Lists[askHolding]
	all := check.Contradictions(&check.State{
		At: k.r.instant(), Holding: holding, Active: s.Lists[askActive], Candidates: s.Lists[askCandidates],
	}, &k.q.Rules)
	for i := range all {
		k.contradiction(&all[i], listed)
	}
	if k.q.Integrity {
		if err := k.integrity(s.SubjectPlace, holding, listed); err != nil {
			return err
		}
	}
	switch {
	case listed:
		k.page.end(s.SubjectPlace)
	case k.found.Next == "" && k.found.Total+k.found.OrphanTotal+k.found.DanglingTotal > k.page.rows:
		k.found.Next = k.r.next(k.page.last)
	}
	return nil
}

func (k *checker) contradiction(c *check.Contradiction, listed bool) {
	k.found.Total++
	k.found.Counts[c.Kind]++
	if !listed {
		return
	}
	shown := Contradiction{Contradiction: *c, Total: len(c.Facts)}
	// A copy, for the list that they are part of holds all facts of the subject.
	shown.Facts = slices.Clone(c.Facts[:min(len(c.Facts), MaxContradictionFacts)])
	k.found.Contradictions = append(k.found.Contradictions, shown)
	k.page.rows++
	k.page.add(shown.Facts)
	k.r.meta.Backfilled = addCounts(k.r.meta.Backfilled, declared(shown.Facts))
}

// declared counts the declared facts of a list by their batch (C-28).
func declared(facts []fact.Fact) []fact.BatchCount {
	var counts []fact.BatchCount
	for i := range facts {
		if b := facts[i].Batch; b != 0 {
			counts = addCounts(counts, []fact.BatchCount{{Batch: b, Rows: 1}})
		}
	}
	return counts
}

// integrity looks at the edges of one subject: whether they lead anywhere, and
// whether there are any.
func (k *checker) integrity(at fact.SubjectPlace, holding []fact.Fact, listed bool) error {
	if len(holding) == 0 {
		return nil
	}
	linked := false
	for i := range holding {
		to, edge, err := k.g.target(k.r.ctx, &holding[i])
		if err != nil {
			return err
		}
		if !edge {
			continue
		}
		linked = linked || to != at.Subject
		there, err := k.g.isSubject(k.r.ctx, at.Tenant, to)
		if err != nil {
			return err
		}
		if !there {
			k.dangling(Edge{From: at.Subject, To: to, Fact: holding[i]}, listed)
		}
	}
	if linked || k.q.Predicate != "" {
		return nil // one predicate cannot tell that there are no other edges
	}
	linked, err := k.referred(at)
	if err != nil || linked {
		return err
	}
	k.found.OrphanTotal++
	if listed {
		k.found.Orphans = append(k.found.Orphans, Orphan{ID: at.Subject, Tenant: at.Tenant, FactCount: len(holding)})
		k.page.rows++
	}
	return nil
}

func (k *checker) dangling(e Edge, listed bool) {
	k.found.DanglingTotal++
	if listed {
		k.found.Dangling = append(k.found.Dangling, e)
		k.page.rows++
		k.page.add([]fact.Fact{e.Fact})
	}
}

// referred reports whether another subject has an edge to this one. Few facts tell
// that, unless the subject mostly refers to itself.
func (k *checker) referred(at fact.SubjectPlace) (bool, error) {
	for _, limit := range [...]int{16, maxGraphEdges} {
		q := toNode(at.Subject)
		q.Scope = fact.Scope{Tenant: at.Tenant, Branch: k.r.scope.Branch}
		q.At, q.Limit = k.r.at, limit
		got, err := k.r.view.Facts(k.r.ctx, &q)
		if err != nil {
			return false, fmt.Errorf("look for what refers to a subject: %w", err)
		}
		k.g.scanned += got.Scan.Scanned
		for i := range got.Facts {
			if got.Facts[i].Subject != at.Subject {
				return true, nil
			}
		}
		if !got.Scan.LimitHit {
			break
		}
	}
	return false, nil
}
