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
		if _, err := e.look(next); err != nil || e.left == 0 { // a layer above may have hidden what it had
			return err
		}
		after = next
	}
}

// skips reports whether the subjects that follow are to be passed by their keys.
func (e *entities) skips() bool { return e.misses >= e.v.m.misses }

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
func (v *View) countFacts(ctx context.Context, q *fact.EntityQuery, tenant, subject string) (n int, err error) {
	facts := &fact.Query{Subject: subject, At: q.At}
	sel, err := v.selector(ctx, facts)
	if err != nil {
		return 0, err
	}
	c := newCollector(facts)
	c.visit = func(*fact.Fact) {
		n++
		c.enough = n == maxEntityFacts
	}
	err = v.collect(ctx, sel, c, fact.Scope{Tenant: tenant, Branch: q.Scope.Branch})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return n, err
}

// nextHolder returns the first subject after a name that some layer of a branch tells a
// fact of at a point of both times; "" = none.
func (v *View) nextHolder(ctx context.Context, at fact.At, s space, after string) (next string, err error) {
	sel, err := v.selector(ctx, &fact.Query{At: at})
	if err != nil {
		return "", err
	}
	sheets, err := v.pile(s, sel)
	if err != nil {
		return "", err
	}
	for i := range sheets {
		if next, err = v.nextIn(ctx, &sheets[i], after, next); err != nil {
			return "", err
		}
	}
	return next, nil
}

// nextIn is nextHolder in one layer: it returns the first subject before the one that is
// known already, or that one.
func (v *View) nextIn(ctx context.Context, sh *sheet, after, next string) (string, error) {
	n := 0
	step := func() error {
		if n++; n%256 == 0 {
			return ctx.Err()
		}
		return nil
	}
	_, err := v.eachRow(sh.space, sh.sel, after, step, func(f *fact.Fact) bool {
		if next == "" || f.Subject < next {
			next = f.Subject
		}
		return false
	})
	if err != nil || !sh.sel.past {
		return next, err
	}
	prefix := sh.space.prefix(famVersion)
	lower := successor(appendString(sh.space.prefix(famVersion), after))
	for round := range sh.sel.rounds() {
		upper := successor(prefix)
		if next != "" {
			upper = appendString(sh.space.prefix(famVersion), next)
		}
		err := v.replacedIn(lower, upper, sh.sel, round, step, func(w *version) error {
			if !sh.sel.mayAccept(w) {
				return nil
			}
			now, err := readFact(v.snap, sh.space, w.id)
			if err != nil || now == nil {
				return err
			}
			next = now.Subject
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return "", err
		}
	}
	return next, nil
}
