package fsm

import (
	"context"
	"errors"
	"slices"

	"abagraph/fact"
)

// Predicates lists the predicates after a name that have facts at the time that
// is read, in byte order. In the present it lists every one that was ever used
// and has a fact left, of whatever status.
func (v *View) Predicates(ctx context.Context, scope fact.Scope, at fact.At, after string, limit int) ([]string, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = fact.MaxLimit
	}
	var names []string
	for _, tenant := range tenants {
		own, err := v.predicatesOf(ctx, space{tenant, scope.Branch}, at, after, limit)
		if err != nil {
			return nil, err
		}
		names = append(names, own...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), limit)], nil
}

// predicatesOf lists those of one tenant's branch, at most limit. They are judged as
// many together as there is room for, and twice as many each time that more are wanted:
// those of which a glance tells nothing cost one pass over all rows.
func (v *View) predicatesOf(ctx context.Context, s space, at fact.At, after string, limit int) (list []string, err error) {
	for together := limit; ; together *= 2 {
		var names []string
		err := v.names(s, famPredicate, after, func(name string) (bool, error) {
			names = append(names, name)
			return len(names) < together, ctx.Err()
		})
		if err != nil || len(names) == 0 {
			return list, err
		}
		after = names[len(names)-1]
		used, err := v.used(ctx, s, names, at)
		if err != nil {
			return nil, err
		}
		if list = append(list, used...); len(list) >= limit {
			return list[:limit], nil
		}
	}
}

// used returns those of some predicates that have facts at the time that is read.
func (v *View) used(ctx context.Context, s space, names []string, at fact.At) ([]string, error) {
	if !at.Past() && !at.AsOf.Given() {
		if s.branch == fact.MainBranch {
			return names, nil
		}
		return v.haveFacts(ctx, s, names, at)
	}
	unknown := make(map[string]bool)
	unused := make(map[string]bool)
	for _, name := range names {
		switch there, err := v.glance(ctx, s, name, at); {
		case errors.Is(err, errLongList):
			unknown[name] = true
		case err != nil:
			return nil, err
		case !there:
			unused[name] = true
		}
	}
	if len(unknown) > 0 {
		q := &fact.Query{Scope: fact.Scope{Tenant: s.tenant, Branch: s.branch}, At: at}
		err := v.Each(ctx, q, func(f *fact.Fact) bool {
			delete(unknown, f.Predicate)
			return len(unknown) > 0
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return unused[name] || unknown[name] }), nil
}

// haveFacts returns those of some predicates that have facts on a branch, of whatever
// status.
func (v *View) haveFacts(ctx context.Context, s space, names []string, at fact.At) ([]string, error) {
	var failed error
	list := slices.DeleteFunc(names, func(name string) bool {
		there := false
		if failed == nil {
			there, failed = v.any(ctx, s, fact.Query{Predicate: name, At: at})
		}
		return !there
	})
	return list, failed
}

// glances is how many facts of a predicate are looked at, before all rows are.
const glances = 8

// glance looks for a fact of a predicate among the first of its list. Where the list
// goes on and none was found, the error is errLongList.
func (v *View) glance(ctx context.Context, s space, name string, at fact.At) (there bool, err error) {
	q := &fact.Query{Scope: fact.Scope{Tenant: s.tenant, Branch: s.branch}, Predicate: name, At: at}
	sel, err := v.selector(ctx, q)
	if err != nil {
		return false, err
	}
	c := newCollector(q)
	c.glances = glances
	c.visit = func(*fact.Fact) { there, c.enough = true, true }
	err = v.collect(ctx, sel, c, q.Scope)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return there, err
}
