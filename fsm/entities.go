package fsm

import (
	"context"
	"errors"
	"maps"
	"slices"

	"abagraph/fact"
)

// maxEntityFacts bounds how far the facts of one entity are counted.
const maxEntityFacts = fact.MaxLimit

// Entities lists the subjects after a name, in byte order, each with the number
// of its facts that hold: in the present every subject that has any fact, so
// that the list agrees with Stats; in the past those that had facts that held.
// A page costs what it holds, not what the store holds; where few of many subjects
// have facts that held, the keys of those between are passed.
func (v *View) Entities(ctx context.Context, q *fact.EntityQuery) ([]fact.Entity, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = fact.DefaultLimit
	}
	tenants, err := v.tenants(q.Scope)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int)
	for _, tenant := range tenants {
		e := &entities{ctx: ctx, v: v, q: q, space: space{tenant, q.Scope.Branch}, counts: counts, left: limit}
		if err := e.run(); err != nil {
			return nil, err
		}
	}
	list := make([]fact.Entity, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fact.Entity{ID: name, FactCount: counts[name]})
	}
	return list[:min(len(list), limit)], nil
}

// entities lists those of one tenant's branch.
type entities struct {
	ctx    context.Context
	v      *View
	q      *fact.EntityQuery
	space  space
	counts map[string]int
	left   int // how many there is room for
	misses int // subjects in a row that had nothing that held
	last   string
}

// maxMisses is how many subjects in a row are looked into that had nothing, before the
// next one that had something is looked for.
const maxMisses = 32

func (e *entities) run() error {
	after := e.q.After
	for {
		e.misses = 0
		err := e.v.names(e.space, famTimeline, after, e.look)
		if err != nil || e.left == 0 || !e.skips() {
			return err
		}
		next, err := e.v.nextHolder(e.ctx, e.q.At, e.space, e.last)
		if err != nil || next == "" {
			return err
		}
		if more, err := e.look(next); err != nil || !more {
			return err
		}
		after = next
	}
}

// skips reports whether the subjects that follow are to be passed by their keys. On a
// branch they lie in layers, and are looked into one by one.
func (e *entities) skips() bool {
	return e.misses >= maxMisses && e.space.branch == fact.MainBranch
}

// look takes a subject in, unless it had nothing.
func (e *entities) look(subject string) (more bool, err error) {
	e.last = subject
	then := e.q.At.Past() || e.q.At.AsOf.Given()
	n, err := e.v.countFacts(e.ctx, e.q, e.space.tenant, subject)
	if err != nil {
		return false, err
	}
	if n == 0 && then {
		e.misses++
		return !e.skips(), nil
	}
	if n == 0 && e.space.branch != fact.MainBranch {
		if there, err := e.v.any(e.ctx, e.space, fact.Query{Subject: subject, At: e.q.At}); !there {
			return true, err
		}
	}
	e.misses = 0
	e.counts[subject] += n
	e.left--
	return e.left > 0, nil
}

// countFacts counts what a list of the subject's facts would hold.
func (v *View) countFacts(ctx context.Context, q *fact.EntityQuery, tenant, subject string) (int, error) {
	facts := &fact.Query{Subject: subject, At: q.At, Limit: maxEntityFacts}
	sel, err := v.selector(ctx, facts)
	if err != nil {
		return 0, err
	}
	c := newCollector(facts)
	c.countOnly = true
	err = v.collect(ctx, sel, c, fact.Scope{Tenant: tenant, Branch: q.Scope.Branch})
	return min(c.count, facts.Limit), err
}

// nextHolder returns the first subject of main after a name that had a fact at a point
// of both times; "" = none.
func (v *View) nextHolder(ctx context.Context, at fact.At, s space, after string) (string, error) {
	sel, err := v.selector(ctx, &fact.Query{At: at})
	if err != nil {
		return "", err
	}
	n, next := 0, ""
	step := func() error {
		if n++; n%256 == 0 {
			return ctx.Err()
		}
		return nil
	}
	_, err = v.eachRow(s, sel, after, step, func(f *fact.Fact) bool { next = f.Subject; return false })
	if err != nil || !sel.past {
		return next, err
	}
	prefix := s.prefix(famVersion)
	upper := successor(prefix)
	if next != "" {
		upper = appendString(s.prefix(famVersion), next)
	}
	it, err := v.over(successor(appendString(prefix, after)), upper)
	if err != nil {
		return "", err
	}
	defer v.giveBack(it)
	err = versionsOf(it, sel.recorded, step, func(axis byte, w *version) error {
		if err := step(); err != nil || !sel.onAxis(axis, w) || !sel.saw(w) || !sel.mayAccept(w) {
			return err
		}
		now, err := readFact(v.snap, s, w.id)
		if err != nil || now == nil {
			return err
		}
		next = now.Subject
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return next, err
}
