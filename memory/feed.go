package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"
)

// feedPage is about how many events a Feed holds at once.
const feedPage = 256

// EventFilter selects events; empty fields select everything.
type EventFilter struct {
	Branch    string
	Subject   string
	Predicate string
	Ops       []fact.Op
}

func (f *EventFilter) passes(e *fact.Event) bool {
	if f.Subject != "" && f.Subject != e.Fact.Subject || f.Predicate != "" && f.Predicate != e.Fact.Predicate {
		return false
	}
	for _, op := range f.Ops {
		if op == e.Op {
			return true
		}
	}
	return len(f.Ops) == 0
}

// Feed hands out the changes that its caller may see, tx by tx (C-33). Its
// reader pulls: what happened since the cursor is replayed from the store, then
// the feed waits for the next tx and does the same again. Nothing is queued for
// a reader, so that a slow one holds up no write and loses nothing. A Feed is
// not safe for concurrent use and needs no closing.
type Feed struct {
	service *Service
	caller  Caller
	scope   fact.Scope
	filter  EventFilter
	epoch   string
	after   uint64
	skip    uint64 // the place in the tx after it that was reached
}

// ErrResync ends a feed whose cursor no longer means anything, because the
// store was restored (C-35).
var ErrResync = errors.New("the store began a new epoch")

// Follow begins a feed at a cursor, or at the present where none is given. A
// cursor that cannot be followed is told by resync: the feed then begins at the
// present.
func (s *Service) Follow(ctx context.Context, c Caller, filter EventFilter, from *Cursor) (feed *Feed, resync *fact.Error, err error) {
	read := NewRead()
	read.Branch, read.dropped = filter.Branch, true // what was told on a branch stays told
	var needs uint64
	if from != nil {
		needs = from.Tx
	}
	r, err := s.begin(ctx, c, read, needs, nil)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	feed = &Feed{service: s, caller: c, scope: r.scope, filter: filter, epoch: r.current.Epoch, after: r.current.Tx}
	if from == nil {
		return feed, nil, nil
	}
	if resync = from.check(r.current); resync != nil {
		return feed, resync, nil
	}
	feed.after = from.Tx
	return feed, nil, nil
}

// Cursor is the place up to which everything was handed out.
func (f *Feed) Cursor() Cursor { return Cursor{Epoch: f.epoch, Tx: f.after} }

// Next returns the next events, or none when nothing that the caller may see has
// happened for the given time. A tx that is heavy comes in parts: those of its
// events that lie behind the cursor are followed by the others. The errors are Denied when
// the caller's key was revoked, ErrResync, and the context's.
func (f *Feed) Next(ctx context.Context, wait time.Duration) ([]fact.Event, error) {
	deadline, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		events, err := f.replay(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
		err = f.service.engine.WaitTx(deadline, f.after+1)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if deadline.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("wait for a tx: %w", err)
		}
	}
}

// replay returns the events after the cursor that pass the filter, and moves
// the cursor past all that it looked at.
func (f *Feed) replay(ctx context.Context) ([]fact.Event, error) {
	view, err := f.service.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	at := view.Position()
	if at.Epoch != f.epoch || at.Tx < f.after {
		return nil, ErrResync
	}
	if err := f.service.recheck(ctx, f.caller, view); err != nil {
		return nil, err
	}
	sight, err := f.service.sight(ctx, f.caller, view, f.scope.Branch)
	if err != nil {
		return nil, err
	}
	if sight != nil {
		view = &sighted{View: view, sight: sight}
	}
	for f.after < at.Tx {
		page, err := view.Events(ctx, &fact.EventQuery{Scope: f.scope, After: f.after, Skip: f.skip, Limit: feedPage})
		if err != nil {
			return nil, fmt.Errorf("replay events: %w", err)
		}
		if page.Through == f.after && page.Skip == f.skip {
			return nil, nil
		}
		f.after, f.skip = page.Through, page.Skip
		if passed := f.pick(page.Events); len(passed) > 0 {
			return passed, nil
		}
	}
	return nil, nil
}

func (f *Feed) pick(events []fact.Event) []fact.Event {
	passed := events[:0]
	for i := range events {
		if f.filter.passes(&events[i]) {
			passed = append(passed, events[i])
		}
	}
	return passed
}
