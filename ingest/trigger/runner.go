package trigger

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/rounds"
	"abagraph/internal/span"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// runKey names a trigger of a tenant.
type runKey struct{ tenant, name string }

// Runner runs what is due, on the node that leads.
type Runner struct {
	s      *Service
	rounds *rounds.Rounds
	now    func() time.Time

	mu      sync.Mutex
	running map[runKey]bool
	looked  map[runKey]time.Time // when a trigger was judged or run last, on this node

	places connect.Places
	runs   sync.WaitGroup
}

// Start begins to run triggers: it looks each so often what is due. It must be stopped
// before the memory is closed.
func (s *Service) Start(each time.Duration, leads func() bool, now func() time.Time) *Runner {
	r := &Runner{s: s, now: now, running: make(map[runKey]bool), looked: make(map[runKey]time.Time)}
	r.rounds = rounds.Start(rounds.Options{Every: each, Leads: leads, Round: r.round, Follows: r.forgetAll})
	return r
}

// Stop ends the runs.
func (r *Runner) Stop() {
	r.rounds.Stop()
	r.runs.Wait()
}

// round begins what is due, and first what has waited longest: triggers whose sources
// hang take their places again only after all others had one. What finds no place is
// due again at the next look.
func (r *Runner) round(ctx context.Context) {
	var due []*Trigger
	err := r.s.memory.KeptOfAll(ctx, connect.Internal(""), Prefix, predicate, func(f *fact.Fact) {
		if t := triggerOf(f); t != nil && !t.Paused && r.due(t) {
			due = append(due, t)
		}
	})
	if err != nil {
		r.s.logger.Warn("abagraph.trigger.round", "error", err.Error())
		return
	}
	r.sortByWait(due)
	for _, t := range due {
		if !r.enter(t) {
			continue
		}
		r.runs.Go(func() {
			defer r.leave(t)
			r.fire(ctx, t)
		})
	}
}

// due judges by this node's clock whether there may be something to do; a schedule is
// judged again by what the log says.
func (r *Runner) due(t *Trigger) bool {
	now := r.now()
	r.mu.Lock()
	looked := r.looked[runKey{t.Tenant(), t.Name}]
	r.mu.Unlock()
	if t.schedule == nil {
		return now.Sub(looked) >= t.Every
	}
	since := t.fact.RecordedAt
	if !looked.IsZero() {
		since = max(since, fact.Instant(looked.UnixMilli()))
	}
	next := t.Next(since)
	return next.Given() && next <= fact.Instant(now.UnixMilli())
}

func (r *Runner) enter(t *Trigger) bool {
	k := runKey{t.Tenant(), t.Name}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[k] || !r.places.Enter(k.tenant) {
		return false
	}
	r.running[k] = true
	if len(r.looked) > maxLooked {
		clear(r.looked) // of triggers that are gone; the others are looked at early once
	}
	r.looked[k] = r.now()
	return true
}

// maxLooked bounds what is remembered of triggers.
const maxLooked = 100_000

// sortByWait puts what was judged or run last to the end.
func (r *Runner) sortByWait(list []*Trigger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(list, func(a, b *Trigger) int {
		return cmp.Or(
			r.looked[runKey{a.Tenant(), a.Name}].Compare(r.looked[runKey{b.Tenant(), b.Name}]),
			cmp.Compare(a.Tenant(), b.Tenant()), cmp.Compare(a.Name, b.Name),
		)
	})
}

// forgetAll has everything judged by the log when this node leads again.
func (r *Runner) forgetAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.looked)
}

func (r *Runner) forget(t *Trigger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.looked, runKey{t.Tenant(), t.Name})
}

func (r *Runner) leave(t *Trigger) {
	k := runKey{t.Tenant(), t.Name}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, k)
	r.places.Leave(k.tenant)
}

func (r *Runner) fire(ctx context.Context, t *Trigger) {
	ctx, part := span.Work(ctx, r.s.tracer, "work trigger")
	defer part.End()
	slot := fact.Instant(r.now().UnixMilli())
	done, err := r.s.fire(ctx, connect.Internal(t.Tenant()), t, slot)
	if err != nil && t.schedule != nil {
		r.forget(t) // if its time could not be claimed, it is due still
	}
	switch {
	case ctx.Err() != nil, done == nil && err == nil, errors.Is(err, errRuns):
		return
	case err != nil:
		part.Fail(string(fact.CodeOf(err)))
		r.s.logger.Warn("abagraph.trigger.run", "tenant", t.Tenant(), "trigger", t.Name, "error", err.Error())
	default:
		r.s.logger.Info("abagraph.trigger.run", "tenant", t.Tenant(), "trigger", t.Name, "records", done.Records, "asserted", done.Asserted, "skipped", done.Skipped, "tx", done.Tx)
	}
}

// errRuns is the error of a trigger that another node claimed and may run still: it is
// looked at again.
var errRuns = errors.New("another node runs the trigger")

// fire runs a trigger if a time of its schedule has come that nobody has run: that time
// is claimed first, so that two nodes that both believe to lead run it once. One that
// was claimed by a node that has died since is run again.
func (s *Service) fire(ctx context.Context, c memory.Caller, t *Trigger, now fact.Instant) (*connect.Pulled, error) {
	st, err := s.state(ctx, c, t)
	if err != nil {
		return nil, err
	}
	is := State{Slot: st.Slot, Outcome: Running}
	if t.schedule != nil {
		slot, due := t.schedule.Due(max(t.fact.RecordedAt, st.Slot), now)
		switch {
		case due:
			is.Slot = slot
		case st.abandoned(now):
			is.Attempts = max(st.Attempts, 1) + 1
		case st.Outcome == Running && st.Attempts < maxAttempts:
			return nil, errRuns
		default:
			return nil, nil
		}
		if st, err = s.saveState(ctx, c, t, st, is); connect.Overtaken(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	return s.pull(ctx, c, t, st, is)
}

// Run runs a trigger now, whatever its schedule says, also while it is paused.
func (s *Service) Run(ctx context.Context, c memory.Caller, name string, trace *memory.Trace) (*Trigger, *connect.Pulled, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	t, _, err := s.Get(ctx, c, memory.NewRead(), name, trace)
	if err != nil {
		return nil, nil, err
	}
	st, err := s.state(ctx, c, t)
	if err != nil {
		return t, nil, err
	}
	done, err := s.pull(ctx, c, t, st, State{Slot: st.Slot})
	return t, done, err
}

// pull pulls the connector, and records what became of it. A look for changes that
// finds none leaves no trace.
func (s *Service) pull(ctx context.Context, c memory.Caller, t *Trigger, st *stated, is State) (*connect.Pulled, error) {
	done, err := s.connect.PullInTurn(ctx, c, memory.WriteOptions{}, t.Connector)
	if ctx.Err() != nil {
		return done, err // the times go on; what was read is read again
	}
	is.Outcome, is.Problem = OK, ""
	switch {
	case err != nil:
		is.Outcome, is.Problem = Failed, err.Error()
		if masker := s.memory.Masker(c, mask.Unsaid); is.Problem != "" {
			is.Problem, _ = masker.Text(is.Problem)
		}
	case done.Unchanged || done.Records == 0:
		is.Outcome = Unchanged
	}
	if done != nil {
		is.Records, is.Asserted, is.Skipped = done.Records, done.Asserted+done.Held, done.Skipped
	}
	if t.schedule == nil && is.Outcome == Unchanged && (st.Outcome == OK || st.Outcome == Unchanged) {
		return done, err
	}
	if _, failed := s.saveState(ctx, c, t, st, is); failed != nil && !connect.Overtaken(failed) {
		err = errors.Join(err, failed)
	}
	return done, err
}

// saveState records a state, if it is another than what was read, and that still
// holds then.
func (s *Service) saveState(ctx context.Context, c memory.Caller, t *Trigger, was *stated, is State) (*stated, error) {
	text := string(append(is.Append(nil), '}'))
	if was.fact != nil && was.fact.Object.Text == text {
		return was, nil
	}
	w := connect.Statement(Prefix+t.Name, statePredicate, text, was.fact)
	if is.Outcome == Running || was.fact == nil {
		// What was paused or deleted meanwhile is not run any more, nor heard of.
		w.Guards = append(w.Guards, fact.SameGuard(Prefix+t.Name, predicate, []fact.Fact{t.fact}))
	}
	result, err := s.memory.Transact(ctx, c, memory.WriteOptions{Mask: mask.Off}, w, nil)
	if err != nil {
		return was, err
	}
	return &stated{is, &result.Asserts[0].Fact}, nil
}
