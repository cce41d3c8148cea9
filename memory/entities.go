package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// List is a page of entities or predicates in the order of their bytes.
type List struct {
	Read
	After string // list those greater than this one
	Limit int    // 0 = as many as a page may hold
}

// size returns the number of rows asked for. A list of names is meant whole, so
// that the default is the ceiling.
func (l *List) size() int {
	if l.Limit == 0 {
		return fact.MaxLimit
	}
	return l.Limit
}

// Entities lists subjects with the number of their facts that hold. more tells
// that others follow the last one.
func (s *Service) Entities(ctx context.Context, c Caller, l *List, trace *Trace) (list []fact.Entity, more bool, meta Meta, err error) {
	r, err := s.begin(ctx, c, l.Read, 0, trace)
	if err != nil {
		return nil, false, Meta{}, err
	}
	defer r.close()
	n := l.size()
	list, err = r.view.Entities(r.ctx, &fact.EntityQuery{Scope: r.scope, After: l.After, Limit: n + 1, At: r.then(&l.Read)})
	if err != nil {
		return nil, false, r.meta, fmt.Errorf("list entities: %w", err)
	}
	if more = len(list) > n; more {
		list = list[:n]
	}
	trace.Step("execute", "by_subject")
	trace.Name("list_entities", "pick by_subject index → count")
	trace.Int("results", len(list))
	trace.Bool("limit_hit", more)
	return list, more, r.meta, nil
}

// Predicates lists predicate names.
func (s *Service) Predicates(ctx context.Context, c Caller, l *List, trace *Trace) (list []string, more bool, meta Meta, err error) {
	r, err := s.begin(ctx, c, l.Read, 0, trace)
	if err != nil {
		return nil, false, Meta{}, err
	}
	defer r.close()
	n := l.size()
	list, err = r.view.Predicates(r.ctx, r.scope, r.then(&l.Read), l.After, n+1)
	if err != nil {
		return nil, false, r.meta, fmt.Errorf("list predicates: %w", err)
	}
	if more = len(list) > n; more {
		list = list[:n]
	}
	trace.Step("execute", "by_predicate")
	trace.Name("list_predicates", "pick by_predicate index → distinct")
	trace.Int("results", len(list))
	trace.Bool("limit_hit", more)
	return list, more, r.meta, nil
}

// EntityPage is one entity with the facts of it that hold.
type EntityPage struct {
	ID    string
	Facts []fact.Fact
	// Cut tells that it has more facts than one answer may hold.
	Cut bool
}

// Entity resolves an entity by its reference. It exists if a fact of whatever
// status has it for a subject, or one that holds has it for an object.
func (s *Service) Entity(ctx context.Context, c Caller, read Read, id string, trace *Trace) (*EntityPage, Meta, error) {
	name, err := Name("id", id)
	if err != nil {
		return nil, Meta{}, noEntity(id)
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	page, err := r.view.Facts(r.ctx, &fact.Query{Scope: r.scope, Subject: name, At: r.at, Limit: fact.MaxLimit})
	if err != nil {
		return nil, r.meta, fmt.Errorf("list an entity's facts: %w", err)
	}
	if len(page.Facts) == 0 {
		known, err := r.mentions(name)
		if err != nil {
			return nil, r.meta, err
		}
		if !known {
			return nil, r.meta, noEntity(name)
		}
	}
	r.meta.Backfilled = page.Backfilled
	trace.Step("execute", page.Scan.Index)
	trace.Name("get_entity", "pick by_subject index → status filter")
	trace.Text("input.subject", name)
	trace.Int("candidates_scanned", page.Scan.Scanned)
	trace.Int("results", len(page.Facts))
	trace.Bool("limit_hit", page.Scan.LimitHit)
	return &EntityPage{ID: name, Facts: page.Facts, Cut: page.Scan.LimitHit}, r.meta, nil
}

// mentions reports whether any fact has the name for its subject, or one that
// holds has it for its object.
func (r *reading) mentions(name string) (bool, error) {
	var known bool
	var err error
	if r.at.AsOf.Given() {
		known, err = r.any(&fact.Query{Subject: name, Statuses: fact.AllStatuses, StatusGiven: true})
	} else {
		known, err = r.view.IsSubject(r.ctx, r.scope, name, r.at)
	}
	if !known && err == nil {
		known, err = r.any(&fact.Query{Objects: []fact.Object{fact.TextObject(name)}})
	}
	if err != nil {
		return false, fmt.Errorf("look for an entity: %w", err)
	}
	return known, nil
}

// any reports whether a query selects a fact at the point that is read.
func (r *reading) any(q *fact.Query) (bool, error) {
	q.Scope, q.At, q.Limit = r.scope, r.at, 1
	page, err := r.view.Facts(r.ctx, q)
	return err == nil && len(page.Facts) > 0, err
}

func noEntity(id string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no entity: " + shorten(id)}
}
