package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
)

// Source is one consistent state of the store.
type Source interface {
	Position() fact.Position
	EachVersion(ctx context.Context, scope fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error
	Events(ctx context.Context, q *fact.EventQuery) (*fact.EventPage, error)
	IsSubject(ctx context.Context, scope fact.Scope, name string, at fact.At) (bool, error)
	Fact(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Statement, error)
	EachVector(ctx context.Context, scope fact.Scope, m fact.Model, after uint64, visit func(statement fact.ID, tx uint64, vector []float32) bool) error
	Vectors(ctx context.Context, scope fact.Scope, m fact.Model, list []fact.VectorAt, visit func(i int, vector []float32)) error
}

// eventsAtOnce is about how many events are taken over while searches wait.
const eventsAtOnce = 256

// ready tells whether the index shows a state.
func (x *Index) ready(at fact.Position) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.built && x.epoch == at.Epoch && x.tx >= at.Tx
}

// started tells whether the index can follow a state, or has to be built.
func (x *Index) started(at fact.Position) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.built && x.epoch == at.Epoch
}

// follow brings the index to the state of a source, or further. What was
// followed before an error stays.
func (x *Index) follow(ctx context.Context, from Source) error {
	at := from.Position()
	if x.ready(at) {
		return nil
	}
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !x.started(at) {
		return errNotBuilt
	}
	if err := x.purged(ctx, from, at); err != nil {
		return err
	}
	if err := x.lapsed(ctx, from, at); err != nil {
		return err
	}
	for !x.ready(at) {
		if err := x.step(ctx, from, at); err != nil {
			return err
		}
	}
	return nil
}

// step takes over the events of a few txs.
func (x *Index) step(ctx context.Context, from Source, at fact.Position) error {
	q := fact.EventQuery{Scope: x.scope, After: x.tx, Limit: eventsAtOnce}
	var events []fact.Event
	for {
		page, err := from.Events(ctx, &q)
		if err != nil {
			return fmt.Errorf("follow the events: %w", err)
		}
		events = append(events, page.Events...)
		if page.Through > x.tx && page.Skip == 0 {
			q.After = page.Through
			break
		}
		if page.Through == q.After && page.Skip == q.Skip {
			return fmt.Errorf("follow the events: none between tx %d and %d", q.After, at.Tx)
		}
		q.After, q.Skip = page.Through, page.Skip
	}
	if err := x.keepLiving(ctx, from, events); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.take(events)
	x.tx = q.After
	return nil
}

// keepLiving takes the sting out of events that tell of another branch's copy of
// a fact: one that expired there may live on here.
func (x *Index) keepLiving(ctx context.Context, from Source, events []fact.Event) error {
	for i := range events {
		e := &events[i]
		ord, there := x.byID[e.Fact.ID]
		if e.Op != fact.OpExpire || !there {
			continue
		}
		_, err := from.Fact(ctx, x.scope, e.Fact.ID, x.made(ord))
		switch {
		case err == nil:
			e.Op = 0
		case fact.CodeOf(err) != fact.NotFound:
			return fmt.Errorf("look for an expired fact: %w", err)
		}
	}
	return nil
}

// take applies the events of whole txs.
func (x *Index) take(events []fact.Event) {
	var lost []uint32
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Tx == events[0].Tx {
			n++
		}
		lost = append(lost, x.takeTx(events[:n])...)
		events = events[n:]
	}
	x.remove(lost)
}

// takeTx applies the events of one tx, and returns the documents that expired.
func (x *Index) takeTx(events []fact.Event) (lost []uint32) {
	var made []*fact.Fact
	see := func(f *fact.Fact) {
		if ord, there := x.byID[f.ID]; there {
			x.change(ord, f)
		} else {
			made = append(made, f)
		}
	}
	for i := range events {
		e := &events[i]
		if e.Op == fact.OpExpire {
			if ord, there := x.byID[e.Fact.ID]; there {
				lost = append(lost, ord)
			}
			continue
		}
		if e.Op == 0 {
			continue
		}
		see(&e.Fact)
		for j := range e.Superseded {
			see(&e.Superseded[j])
		}
	}
	slices.SortFunc(made, func(a, b *fact.Fact) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	for i, f := range made {
		if i == 0 || f.ID != made[i-1].ID {
			x.add(f)
		}
	}
	return lost
}

// purged carries out the purges since the last one, of whom nothing tells what
// they named: it drops every document whose fact is no longer there.
func (x *Index) purged(ctx context.Context, from Source, at fact.Position) error {
	if at.Purge <= x.purge {
		return nil
	}
	var lost []uint32
	for n, name := range x.subjects.names {
		list := x.subjects.lists[n].ords
		if len(list) == 0 {
			continue
		}
		there, err := from.IsSubject(ctx, x.scope, name, x.made(list[len(list)-1]))
		if err != nil {
			return fmt.Errorf("look for purged subjects: %w", err)
		}
		if !there {
			lost = append(lost, list...)
			continue
		}
		// A purge takes all of a subject. What was said of it since is later than
		// what the index knows, so that its first document tells of all.
		_, err = from.Fact(ctx, x.scope, x.ids[list[0]], x.made(list[0]))
		switch {
		case fact.CodeOf(err) == fact.NotFound:
			if lost, err = x.check(ctx, from, list, lost); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("look for purged facts: %w", err)
		}
	}
	slices.Sort(lost)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(lost)
	x.purge = at.Purge
	return nil
}

// lapsed drops the facts that a branch has lost because they expired where it
// inherits them from.
func (x *Index) lapsed(ctx context.Context, from Source, at fact.Position) error {
	if x.scope.Branch == fact.MainBranch || at.Expiry <= x.lapse {
		return nil
	}
	var ords []uint32
	for id := range x.mortal {
		if ord, there := x.byID[id]; there {
			ords = append(ords, ord)
		}
	}
	slices.Sort(ords)
	lost, err := x.check(ctx, from, ords, nil)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, ord := range lost {
		delete(x.mortal, x.ids[ord])
	}
	x.remove(lost)
	x.lapse = at.Expiry
	return nil
}

// made is a point of record time at which the fact of a document is seen unless it was
// erased. On a branch that is when it was made: the present shows nothing of a branch
// that was discarded.
func (x *Index) made(ord uint32) fact.At {
	at := fact.Present(fact.NoInstant)
	if x.scope.Branch != fact.MainBranch {
		at.Tx, at.Pinned = x.docs[ord].firstTx, true
	}
	return at
}

// check adds the documents of a list whose facts are no longer there.
func (x *Index) check(ctx context.Context, from Source, list, lost []uint32) ([]uint32, error) {
	for _, ord := range list {
		_, err := from.Fact(ctx, x.scope, x.ids[ord], x.made(ord))
		if fact.CodeOf(err) == fact.NotFound {
			lost = append(lost, ord)
		} else if err != nil {
			return lost, fmt.Errorf("look for purged facts: %w", err)
		}
	}
	return lost, nil
}

// remove drops documents as if they had never been.
func (x *Index) remove(lost []uint32) {
	if len(lost) == 0 {
		return
	}
	renumbered := make([]uint32, len(x.docs))
	statements := make([]fact.ID, len(lost))
	for i, ord := range lost {
		renumbered[ord] = gone
		statements[i] = x.statement(ord)
	}
	n := uint32(0)
	for ord, to := range renumbered {
		if to == gone {
			delete(x.byID, x.ids[ord])
			delete(x.continues, x.ids[ord])
			continue
		}
		renumbered[ord] = n
		x.docs[n], x.ids[n], x.lengths[n], x.knowns[n] = x.docs[ord], x.ids[ord], x.lengths[ord], x.knowns[ord]
		x.byID[x.ids[n]] = n
		if x.spoken != nil {
			x.spoken[n] = x.spoken[ord]
		}
		n++
	}
	if x.spoken != nil {
		x.spoken = x.spoken[:n]
		x.bytes -= spokenBytes * int64(len(lost))
	}
	x.docs, x.ids, x.lengths, x.knowns = x.docs[:n], x.ids[:n], x.lengths[:n], x.knowns[:n]
	if x.dense != nil {
		x.dense.forget(x, statements, renumbered)
	}
	for _, l := range []*lexicon{&x.terms, &x.subjects, &x.predicates, &x.sessions} {
		for at := range l.lists {
			if len(l.lists[at].ords) > 0 && !l.lists[at].keep(renumbered) {
				l.forget(uint32(at))
			}
		}
	}
	x.settle()
}

// settle works out what is derived from the documents.
func (x *Index) settle() {
	windows := (len(x.docs) + windowSize - 1) >> windowBits
	x.sums, x.ranges = make([]uint64, windows), make([]span, windows)
	for w := range windows {
		if w > 0 {
			x.sums[w] = x.sums[w-1] + x.windowLength(w-1)
		}
		x.ranges[w] = nothing
		for _, known := range x.knowns[w<<windowBits : min(len(x.knowns), (w+1)<<windowBits)] {
			x.ranges[w].include(known)
		}
	}
	x.calm, x.runs = make([]calm, 0, windows), nil
	for ord := range x.docs {
		x.noteCalm(uint32(ord))
	}
	if x.dense != nil {
		x.dense.lineUp(x)
	}
	for at := range x.terms.lists {
		x.terms.lists[at].divide(x.lengths)
	}
}

// place is where a fact stands in the order of documents.
type place struct {
	tx uint64
	id fact.ID
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.tx, q.tx), bytes.Compare(q.id[:], p.id[:]))
}
