package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/internal/span"
)

// Read says what state a read answers from (C-20 to C-22, C-26). Make it with
// NewRead.
type Read struct {
	Branch string // "" = main
	Level  fact.Level
	MinTx  uint64
	AsOf   fact.Instant // valid time, or NoInstant
	// Tx is the record time to read at, by number, where Pinned is set.
	Tx     uint64
	Pinned bool
	// KnownAt is the record time to read at, by the clock, or NoInstant.
	KnownAt fact.Instant
	// NoBackfill leaves declared rows out of KnownAt (C-28).
	NoBackfill bool
	// dropped lets a branch be read that has been discarded.
	dropped bool
	// bare reads what is no fact, and is under no policy.
	bare bool
}

// NewRead reads the present, linearizably.
func NewRead() Read { return Read{AsOf: fact.NoInstant, KnownAt: fact.NoInstant} }

// Meta tells from where an answer was read.
type Meta struct {
	Tx         uint64       // the tx it was read at
	Now        fact.Instant // the instant that live meant; NoInstant for a write that failed
	Epoch      string
	Warnings   []string
	Backfilled []fact.BatchCount // rows there by declaration, by batch (C-28)
}

// Declared sums the rows that an answer owes to declarations.
func (m *Meta) Declared() int {
	n := 0
	for _, b := range m.Backfilled {
		n += b.Rows
	}
	return n
}

// reading is one open view with the point in both times that it is read at.
type reading struct {
	ctx    context.Context
	cancel context.CancelFunc // nil where another one's context is used
	view   View
	scope  fact.Scope
	at     fact.At
	meta   Meta
	// current is the view's own position, whatever the read is pinned to.
	current fact.Position
	// unasked is why vectors are not used, be it the question's or those that are
	// stored: it is found out once in one reading, so that all of its parts go by the
	// same.
	unasked error
	// raw is the view without what a policy holds back, for indexes that all
	// readers share; sight is what that leaves, nil for everything.
	raw   View
	sight *fact.Sight
	part  span.Span // kept nowhere unless the request is traced
}

func (r *reading) close() {
	r.view.Close()
	r.part.End()
	if r.cancel != nil {
		r.cancel()
	}
}

// begin finds the basis of a read, opens the view and works out the instants.
// needs is the highest tx that the request speaks of.
func (s *Service) begin(ctx context.Context, c Caller, r Read, needs uint64, trace *Trace) (*reading, error) {
	return s.beginFor(ctx, s.timeout, c, r, needs, trace)
}

// wholeTime bounds a read of all that a tenant has, whose time grows with that.
const wholeTime = 90 * time.Second

// beginFor is begin for a read that may take longer than others. The waiting for its
// basis may not.
func (s *Service) beginFor(ctx context.Context, limit time.Duration, c Caller, r Read, needs uint64, trace *Trace) (*reading, error) {
	ctx, part := span.Start(ctx, "memory.read", span.Internal)
	waiting, enough := within(ctx, s.timeout)
	defer enough()
	basis, err := s.await(waiting, r, needs, trace)
	if err != nil {
		part.End()
		return nil, err
	}
	ctx, cancel := within(ctx, limit)
	read, err := s.open(ctx, c, r, basis, trace)
	if err != nil {
		part.End()
		cancel()
		return nil, err
	}
	read.cancel, read.part = cancel, part
	return read, nil
}

// await waits for the basis of a read. Where this node has not applied a tx that
// the request speaks of, a stale read asks the leader whether it exists at all.
func (s *Service) await(ctx context.Context, r Read, needs uint64, trace *Trace) (fact.Basis, error) {
	if r.Pinned && r.KnownAt.Given() {
		return fact.Basis{}, fact.Invalid("tx", "cannot be combined with known_at: both name the record time")
	}
	if r.Pinned {
		needs = max(needs, r.Tx)
	}
	level := r.Level
	if level == fact.Stale && needs > s.engine.Position().Tx {
		level = fact.Linearizable
	}
	within, part := span.Start(ctx, "read.basis", span.Internal)
	basis, err := s.engine.Basis(within, level, r.MinTx)
	part.End()
	if err != nil {
		return fact.Basis{}, waitError(err, r.MinTx)
	}
	trace.Step("basis", levelName(level))
	return basis, nil
}

// open opens a view on a basis.
func (s *Service) open(ctx context.Context, c Caller, r Read, basis fact.Basis, trace *Trace) (*reading, error) {
	view, err := s.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a view: %w", err)
	}
	read := &reading{ctx: ctx, view: view, scope: c.Scope(r.Branch), current: view.Position()}
	if err = s.recheck(ctx, c, view); err == nil {
		err = read.locate(r, basis)
	}
	if read.raw = view; err == nil && !r.bare {
		read.sight, err = s.sight(ctx, c, view, read.scope.Branch)
		if read.sight != nil {
			read.view = &sighted{View: view, sight: read.sight}
			trace.veil(read.sight)
		}
	}
	if err == nil && read.scope.Branch != fact.MainBranch {
		err = read.onBranch(r.dropped)
	}
	if err != nil {
		view.Close()
		return nil, err
	}
	return read, nil
}

func levelName(level fact.Level) string {
	if level == fact.Stale {
		return "stale"
	}
	return "linearizable"
}

// waitError says what a read waited for in vain. A read that timed out changed
// nothing, whatever Timeout means for a write.
func waitError(err error, minTx uint64) error {
	if fact.CodeOf(err) == "" && errors.Is(err, context.DeadlineExceeded) {
		e := &fact.Error{Code: fact.Timeout, Message: "the read timed out before this node was up to date"}
		if minTx > 0 {
			e.Field, e.Message = "min_tx", "tx "+strconv.FormatUint(minTx, 10)+" has not been applied here in time"
		}
		return e
	}
	return err
}

// locate works out At and the Meta of the answer (C-20 to C-22).
func (r *reading) locate(q Read, basis fact.Basis) error {
	// The view may be newer than the basis, and now is never earlier than the
	// newest record time that it shows.
	now := max(basis.Now, r.current.RecordedAt)
	r.at = fact.Present(now)
	r.at.AsOf = q.AsOf
	r.meta = Meta{Tx: r.current.Tx, Now: now, Epoch: r.current.Epoch}
	switch {
	case q.Pinned:
		return r.pin(q.Tx)
	case q.KnownAt.Given():
		return r.know(q)
	}
	return nil
}

func (r *reading) pin(tx uint64) error {
	if tx > r.current.Tx {
		return fact.Invalid("tx", "is above the current tx, which is "+strconv.FormatUint(r.current.Tx, 10))
	}
	r.at.Tx, r.at.Pinned = tx, true
	r.meta.Tx = tx
	if tx == 0 {
		return nil // the empty store has no record time
	}
	now, err := r.view.RecordTime(r.ctx, tx)
	if err != nil {
		return fmt.Errorf("find the record time of a tx: %w", err)
	}
	r.at.Now, r.meta.Now = now, now
	return nil
}

// know reads at a record time by the clock. A time that is not earlier than the
// last record time names the present state: it may still change, so the answer
// says at which tx it was read.
func (r *reading) know(q Read) error {
	if q.KnownAt >= r.current.RecordedAt {
		now := min(q.KnownAt, r.at.Now)
		r.at.Now, r.meta.Now = now, now
		return nil
	}
	tx, err := r.view.TxAt(r.ctx, q.KnownAt)
	if err != nil {
		return fmt.Errorf("find the tx of a record time: %w", err)
	}
	r.at.KnownAt, r.at.NoBackfill = q.KnownAt, q.NoBackfill
	r.at.Now, r.meta.Now, r.meta.Tx = q.KnownAt, q.KnownAt, tx
	return nil
}

// then is the point in both times where a read that names a record time must answer
// as it will later on, when that is the past: lists of names tell more in the present.
func (r *reading) then(q *Read) fact.At {
	at := r.at
	if q.KnownAt.Given() && !at.Past() {
		at.KnownAt, at.NoBackfill = at.Now, q.NoBackfill
	}
	return at
}

// Cursor is a place in the order of txs (C-33, C-35). Epoch is "" where only a
// number was given.
type Cursor struct {
	Epoch string
	Tx    uint64
}

// check tells a caller whose cursor is from another epoch, or ahead of the
// store, that it must begin anew (C-35).
func (c Cursor) check(at fact.Position) *fact.Error {
	if c.Epoch != "" && c.Epoch != at.Epoch {
		return fact.Errorf(fact.EpochChanged, "the cursor is of epoch %s, and the store is in epoch %s: read anew from tx_gt=0", shorten(c.Epoch), at.Epoch)
	}
	if c.Tx > at.Tx {
		return fact.Errorf(fact.EpochChanged, "the cursor is at tx %d, and the store at tx %d: read anew from tx_gt=0", c.Tx, at.Tx)
	}
	return nil
}
