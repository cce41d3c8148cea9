package fsm

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// historyOf is History on a branch: the versions that its parents had of a piece
// up to the fork, and then its own.
func (v *View) historyOf(ctx context.Context, branch string, sheets []sheet, f *fact.Fact, limit int) (*fact.History, error) {
	h := &fact.History{}
	pieces := &firsts{limit: limit, compare: compareStart}
	versions := &firsts{limit: limit, compare: func(a, b *fact.Fact) int {
		return cmp.Or(cmp.Compare(a.Tx, b.Tx), bytes.Compare(a.ID[:], b.ID[:]))
	}}
	shown := make(map[fact.ID]bool)
	for i := range sheets {
		sh := &sheets[i]
		now := make(map[fact.ID]*fact.Fact)
		err := v.eachPiece(ctx, sh.space, f, func(p *fact.Fact) error {
			was, err := v.seen(sh.space, p, sh.sel)
			if err != nil || was == nil {
				return err
			}
			hidden, err := v.hidden(sheets[:i], p.ID)
			if err != nil || hidden && !shown[p.ID] {
				return err
			}
			if !hidden {
				shown[p.ID] = true
				pieces.add(was)
				if p.ID == f.ID {
					h.Fact = *was
				}
			}
			now[p.ID] = p
			if sh.sel.sees(p) {
				versions.add(p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		prefix := sh.space.versions(f.Subject, f.Predicate, axisRecorded)
		err = scanVersions(v.snap, prefix, fact.NoInstant, func(_ byte, w *version) error {
			if p := now[w.id]; p != nil && (!sh.sel.past || w.tx <= sh.sel.tx) {
				was := w.of(p)
				versions.add(&was)
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	if !shown[f.ID] {
		return nil, noFact(f.ID)
	}
	h.Pieces, h.PiecesCut = pieces.list()
	h.Versions, h.VersionsCut = versions.list()
	line := &firsts{limit: limit, compare: compareStart}
	q := &fact.Query{Subject: f.Subject, Predicate: f.Predicate, At: fact.Present(fact.NoInstant), Statuses: fact.AllStatuses, StatusGiven: true}
	err := v.gather(ctx, fact.Scope{Tenant: sheets[0].space.tenant, Branch: branch}, q, line.add)
	if err != nil {
		return nil, err
	}
	h.Timeline, h.TimelineCut = line.list()
	return h, nil
}

// gather visits what a query selects, from the narrowest index, without a limit.
func (v *View) gather(ctx context.Context, scope fact.Scope, q *fact.Query, visit func(*fact.Fact)) error {
	sel, err := v.selector(ctx, q)
	if err != nil {
		return err
	}
	c := newCollector(q)
	c.visit = visit
	return v.collect(ctx, sel, c, scope)
}

// spaces are the keyspaces that a tenant's branch reads from.
func (v *View) spaces(s space) ([]space, error) {
	list := []space{s}
	if s.branch == fact.MainBranch {
		return list, nil
	}
	if rec, err := v.branch(s); err != nil || rec == nil {
		return nil, err
	}
	layers, err := lineage(s, v.branch)
	for _, a := range layers {
		list = append(list, a.space)
	}
	return list, err
}

// eachName visits the names that follow one of some prefixes, each once, after a
// name and in byte order, until visit answers false.
func eachName(r pebble.Reader, prefixes [][]byte, after string, visit func(string) (bool, error)) (err error) {
	cursors := make([]*nameCursor, 0, len(prefixes))
	defer func() {
		for _, c := range cursors {
			err = errors.Join(err, c.it.Close())
		}
	}()
	for _, prefix := range prefixes {
		c := &nameCursor{prefix: prefix}
		if c.it, err = openIter(r, prefix, successor(prefix)); err != nil {
			return err
		}
		cursors = append(cursors, c)
		if err := c.seek(after); err != nil {
			return err
		}
	}
	for {
		var next *nameCursor
		for _, c := range cursors {
			if c.live && (next == nil || c.name < next.name) {
				next = c
			}
		}
		if next == nil {
			return nil
		}
		name := next.name
		if more, err := visit(name); err != nil || !more {
			return err
		}
		for _, c := range cursors {
			if c.live && c.name == name {
				if err := c.seek(name); err != nil {
					return err
				}
			}
		}
	}
}

// nameCursor stands on the first key of a name.
type nameCursor struct {
	it     iterator
	prefix []byte
	name   string
	live   bool
}

// seek moves to the first name after another one; "" is before all.
func (c *nameCursor) seek(after string) error {
	if after == "" {
		c.live = c.it.First()
	} else {
		c.live = c.it.SeekGE(successor(appendString(bytes.Clone(c.prefix), after)))
	}
	if !c.live {
		return c.it.Error()
	}
	var fine bool
	if c.name, _, fine = cutString(c.it.Key()[len(c.prefix):]); !fine {
		return fact.Errorf(fact.StorageCorruption, "a name's key cannot be read")
	}
	return nil
}

// names visits the subjects or predicates, by their family, of a branch and of
// what it inherits from.
func (v *View) names(s space, family byte, after string, visit func(string) (bool, error)) error {
	spaces, err := v.spaces(s)
	if err != nil {
		return err
	}
	prefixes := make([][]byte, len(spaces))
	for i, s := range spaces {
		prefixes[i] = s.prefix(family)
	}
	return eachName(v.snap, prefixes, after, visit)
}

// any reports whether a branch has a fact of whatever status.
func (v *View) any(ctx context.Context, s space, q fact.Query) (bool, error) {
	q.Scope = fact.Scope{Tenant: s.tenant, Branch: s.branch}
	q.At.AsOf = fact.NoInstant
	q.Statuses, q.StatusGiven, q.Limit = fact.AllStatuses, true, 1
	page, err := v.Facts(ctx, &q)
	return err == nil && len(page.Facts) > 0, err
}

// branchStats counts the facts of a tenant's branch. It has no counters for what
// it inherits, and so looks at every fact.
func (v *View) branchStats(ctx context.Context, s space, names map[string]bool) (fact.Stats, error) {
	var stats fact.Stats
	subjects := make(map[string]bool)
	q := &fact.Query{
		Scope: fact.Scope{Tenant: s.tenant, Branch: s.branch}, At: fact.Present(fact.NoInstant),
		Statuses: fact.AllStatuses, StatusGiven: true,
	}
	err := v.Each(ctx, q, func(f *fact.Fact) bool {
		switch f.Status {
		case fact.Active:
			stats.Active++
		case fact.Candidate:
			stats.Candidate++
		case fact.Superseded:
			stats.Superseded++
		case fact.Retracted:
			stats.Retracted++
		}
		subjects[f.Subject], names[f.Predicate] = true, true
		return true
	})
	stats.Entities = uint64(len(subjects))
	return stats, err
}
