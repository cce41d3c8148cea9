package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
	"abagraph/memory/check"
)

// maxCopyBytes is what the facts that one collapse speaks of may weigh.
const maxCopyBytes = fact.MaxTxBytes / 4

// guarded is a group of copies with the guard that holds while just what was
// read of their time is active.
type guarded struct {
	check.Copies
	guard fact.Guard
}

// copyFinder goes through the subjects for copies.
type copyFinder struct {
	r         *reading
	rules     check.Rules
	tenants   []string // that were looked at, in order
	found     map[string][]guarded
	rows      map[string]int // of the tenant's batch
	weight    int
	conflicts int
	limited   bool
	scanned   int
	looked    bool // at any subject
}

func (s *Service) findCopies(ctx context.Context, c Caller, read Read, q *ConsolidateQuery, trace *Trace) (*copyFinder, error) {
	r, done, err := s.looking(ctx, c, read, trace)
	if err != nil {
		return nil, err
	}
	defer done()
	k := &copyFinder{
		r: r, rules: check.Rules{Kinds: check.AllKinds, Coexist: q.Coexist}, found: make(map[string][]guarded), rows: make(map[string]int),
	}
	if !r.scope.All {
		k.tenants = []string{r.scope.Tenant}
	}
	n := &Narrow{Subject: q.Subject, Predicate: q.Predicate}
	both := n.subjects(r, n.query(r.at), n.byStatus(r.at, fact.Active, fact.NoInstant))
	err = r.view.EachSubject(r.ctx, both, func(s *fact.SubjectFacts) (bool, error) {
		k.scanned += s.Scanned
		k.looked = true
		return true, k.subject(s.Tenant, s.Lists[0], s.Lists[1])
	})
	if err != nil {
		return nil, fmt.Errorf("look for copies: %w", err)
	}
	if !k.looked {
		if err := r.warnNothing(q.Subject); err != nil {
			return nil, err
		}
	}
	trace.Step("execute", "by_subject")
	return k, nil
}

func (k *copyFinder) subject(tenant string, holding, active []fact.Fact) error {
	if n := len(k.tenants); n == 0 || k.tenants[n-1] != tenant {
		k.tenants = append(k.tenants, tenant)
	}
	for _, c := range check.Contradictions(&check.State{At: k.r.instant(), Holding: holding}, &k.rules) {
		if c.Kind == check.MultipleActive {
			k.conflicts++
		}
	}
	for _, same := range check.FindCopies(active, &k.rules) {
		same, err := k.replaceable(same)
		if err != nil {
			return err
		}
		if len(same) > 1 {
			k.take(tenant, same, active)
		}
	}
	return nil
}

// replaceable keeps those copies whose whole statement the first one can stand
// for: a retraction ends all pieces of a statement, past ones too.
func (k *copyFinder) replaceable(same check.Copies) (check.Copies, error) {
	whole := true
	for i := range same {
		whole = whole && check.Whole(&same[i])
	}
	if whole {
		return same, nil
	}
	var kept check.Copies
	var times []fact.Fact
	for i := range same {
		st, err := k.r.view.Fact(k.r.ctx, fact.Scope{Tenant: same[i].Tenant, Branch: k.r.scope.Branch}, same[i].ID, k.r.at)
		if err != nil {
			return nil, fmt.Errorf("look at the pieces of a copy: %w", err)
		}
		if i == 0 {
			times = st.Pieces
		}
		if !st.Cut && check.SameTimes(times, st.Pieces) {
			kept = append(kept, same[i])
		}
	}
	return kept, nil
}

// take adds a group of copies to the tenant's batch, as far as there is room.
func (k *copyFinder) take(tenant string, same check.Copies, active []fact.Fact) {
	var beside []fact.Fact // active at the same time, the copies included
	weight := 0
	for i := range active {
		if active[i].Predicate == same[0].Predicate && active[i].Holds(same[0].ValidFrom) {
			beside = append(beside, active[i])
			weight += active[i].Weight()
		}
	}
	room := fact.MaxTransactRows - k.rows[tenant] - 1
	if room <= 0 || k.weight > 0 && k.weight+weight > maxCopyBytes {
		k.limited = true
		return
	}
	goes := min(len(same)-1, room)
	k.limited = k.limited || goes < len(same)-1
	k.rows[tenant] += 1 + goes
	k.weight += weight
	k.found[tenant] = append(k.found[tenant], guarded{
		Copies: same[:1+goes], guard: fact.SameGuardAt(same[0].Subject, same[0].Predicate, same[0].ValidFrom, beside),
	})
}
