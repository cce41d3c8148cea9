package memory

import (
	"context"
	"slices"

	"abagraph/fact"
)

// sighted is a view through a policy: what its reader may not see is not there.
// Every read goes through a View, so that no surface can forget it.
type sighted struct {
	View
	sight *fact.Sight
}

func (v *sighted) in(q *fact.Query) *fact.Query {
	own := *q
	own.Sight = v.sight
	return &own
}

func (v *sighted) Facts(ctx context.Context, q *fact.Query) (*fact.Page, error) {
	return v.View.Facts(ctx, v.in(q))
}

func (v *sighted) Each(ctx context.Context, q *fact.Query, visit func(*fact.Fact) bool) error {
	return v.View.Each(ctx, v.in(q), visit)
}

// EachVersion is for the building of indexes, which are shared: no reader's view
// takes part in it.
func (v *sighted) EachVersion(context.Context, fact.Scope, func(*fact.Fact) bool, func(*fact.Version) bool) error {
	return errPartial
}

var errPartial = fact.Errorf(fact.Forbidden, "this tells of facts that your policy lets you see in part only: it needs facts:read without conditions")

func (v *sighted) Recent(ctx context.Context, q *fact.Query, look int) ([]fact.Fact, error) {
	return v.View.Recent(ctx, v.in(q), look)
}

func (v *sighted) EachSubject(ctx context.Context, q *fact.SubjectQuery, visit func(*fact.SubjectFacts) (bool, error)) error {
	own := *q
	own.Queries = slices.Clone(q.Queries)
	for i := range own.Queries {
		own.Queries[i].Sight = v.sight
	}
	return v.View.EachSubject(ctx, &own, visit)
}

func (v *sighted) IsSubject(ctx context.Context, scope fact.Scope, name string, at fact.At) (bool, error) {
	at.AsOf = fact.NoInstant
	page, err := v.Facts(ctx, &fact.Query{Scope: scope, Subject: name, Statuses: fact.AllStatuses, StatusGiven: true, At: at, Limit: 1})
	return err == nil && len(page.Facts) > 0, err
}

func (v *sighted) Get(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Fact, error) {
	f, err := v.View.Get(ctx, scope, id, at)
	if f == nil || err != nil || !v.sight.Sees(f) {
		return nil, err
	}
	return f, nil
}

func (v *sighted) GetFrom(ctx context.Context, scope fact.Scope, p *fact.Place, at fact.At) (*fact.Fact, error) {
	f, err := v.View.GetFrom(ctx, scope, p, at)
	if f == nil || err != nil || !v.sight.Sees(f) {
		return nil, err
	}
	return f, nil
}

func (v *sighted) Fact(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Statement, error) {
	st, err := v.View.Fact(ctx, scope, id, at)
	if err == nil && !v.sight.Sees(&st.Fact) {
		return nil, NoFact(id.String())
	}
	return st, err
}

// History leaves out what others say of the timeline; the pieces and versions of
// one statement are all of its predicate and source.
func (v *sighted) History(ctx context.Context, scope fact.Scope, id fact.ID, limit int) (*fact.History, error) {
	h, err := v.View.History(ctx, scope, id, limit)
	if err != nil {
		return nil, err
	}
	if !v.sight.Sees(&h.Fact) {
		return nil, NoFact(id.String())
	}
	h.Timeline = v.sight.Filter(h.Timeline)
	return h, nil
}

// Entities counts what may be seen, subject by subject.
func (v *sighted) Entities(ctx context.Context, q *fact.EntityQuery) ([]fact.Entity, error) {
	limit := q.Limit
	if limit == 0 {
		limit = fact.DefaultLimit
	}
	var list []fact.Entity
	pass := &fact.SubjectQuery{
		Scope: q.Scope, After: fact.SubjectPlace{Tenant: q.Scope.Tenant, Subject: q.After}, Queries: []fact.Query{{Scope: q.Scope, At: q.At}},
	}
	err := v.EachSubject(ctx, pass, func(s *fact.SubjectFacts) (bool, error) {
		if n := len(s.Lists[0]); n > 0 {
			list = append(list, fact.Entity{ID: s.Subject, FactCount: n})
		}
		return len(list) < limit, nil
	})
	return list, err
}

// Predicates lists those of which there is a fact to see.
func (v *sighted) Predicates(ctx context.Context, scope fact.Scope, at fact.At, after string, limit int) ([]string, error) {
	var list []string
	for {
		names, err := v.View.Predicates(ctx, scope, at, after, limit)
		if err != nil || len(names) == 0 {
			return list, err
		}
		for _, name := range names {
			page, err := v.Facts(ctx, &fact.Query{Scope: scope, Predicate: name, Statuses: fact.AllStatuses, StatusGiven: true, At: at, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(page.Facts) > 0 {
				list = append(list, name)
			}
			if len(list) == limit {
				return list, nil
			}
		}
		after = names[len(names)-1]
	}
}

// Stats counts what may be seen, fact by fact.
func (v *sighted) Stats(ctx context.Context, scope fact.Scope) (fact.Stats, error) {
	stats := fact.Stats{Tenants: 1}
	predicates := map[string]bool{}
	at := fact.Present(v.Position().RecordedAt)
	pass := &fact.SubjectQuery{Scope: scope, Queries: []fact.Query{{Scope: scope, At: at, Statuses: fact.AllStatuses, StatusGiven: true}}}
	err := v.EachSubject(ctx, pass, func(s *fact.SubjectFacts) (bool, error) {
		for i := range s.Lists[0] {
			f := &s.Lists[0][i]
			predicates[f.Predicate] = true
			switch f.Status {
			case fact.Active:
				stats.Active++
			case fact.Superseded:
				stats.Superseded++
			case fact.Retracted:
				stats.Retracted++
			case fact.Candidate:
				stats.Candidate++
			}
		}
		if len(s.Lists[0]) > 0 {
			stats.Entities++
		}
		return true, nil
	})
	stats.Predicates = uint64(len(predicates))
	return stats, err
}

func (v *sighted) BranchDiff(context.Context, fact.Scope, string, fact.Instant, int) (*fact.BranchDiff, error) {
	return nil, errPartial
}

func (v *sighted) CountVectors(context.Context, fact.Scope, fact.Model) (fact.VectorCount, error) {
	return fact.VectorCount{}, errPartial
}

// Events leaves out what may not be seen; the place that was reached moves on.
func (v *sighted) Events(ctx context.Context, q *fact.EventQuery) (*fact.EventPage, error) {
	page, err := v.View.Events(ctx, q)
	if err != nil {
		return nil, err
	}
	page.Events = slices.DeleteFunc(page.Events, func(e fact.Event) bool { return !v.sight.Sees(&e.Fact) })
	for i := range page.Events {
		page.Events[i].Superseded = v.sight.Filter(page.Events[i].Superseded)
	}
	return page, nil
}

// narrow takes out of the answer to a write what its writer may not read: what it
// closed, cut or retracted of others, and what was there already and it only
// repeats. What it says itself stays.
func narrow(result *fact.Result, sight *fact.Sight) {
	for i := range result.Asserts {
		a := &result.Asserts[i]
		a.Superseded, a.Moved = sight.Filter(a.Superseded), sight.Filter(a.Moved)
		own := a.Fact.ID
		a.Continuations = slices.DeleteFunc(a.Continuations, func(f fact.Fact) bool { return f.Continues != own && !sight.Sees(&f) })
		if a.Duplicate && !sight.Sees(&a.Fact) {
			a.Fact.Properties = nil // another's; the rest is what was asked for
		}
	}
	result.Retracted = sight.Filter(result.Retracted)
}
