package fsm

import (
	"errors"
	"fmt"
	"slices"

	"abagraph/fact"
)

// write judges a batch: guards, then retracts, then asserts, all or nothing
// (C-34). What it answers as refusal has written nothing.
func (l *ledger) write(req *fact.Request, now fact.Instant) (*fact.Result, []metGuard, error) {
	t := l.begin(req, now)
	t.backing = req.Write.Backfill
	if t.space.branch != fact.MainBranch {
		if refused, err := l.closedBranch(t.space); refused != nil || err != nil {
			return &fact.Result{Tx: l.state.Tx, RecordedAt: now, Err: refused}, nil, err
		}
	}
	res := &fact.Result{Tx: l.state.Tx, RecordedAt: now}
	refused, err := t.run(res)
	if errors.Is(err, errTooHeavy) {
		refused, err = errTooHeavy, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if refused != nil {
		t.rollback()
		return &fact.Result{Tx: l.state.Tx, RecordedAt: now, Err: refused}, t.met, nil
	}
	if !t.changed() {
		return res, nil, nil
	}
	res.Tx, res.Wrote = t.tx, true
	t.settle(res)
	return res, nil, t.commit(t.record())
}

// settle lets an answer show every fact as the whole tx left it, which is also
// how a replay of the tx shows it.
func (t *txn) settle(res *fact.Result) {
	refresh := func(facts []fact.Fact) {
		for i := range facts {
			if r := t.l.changed(t.space, facts[i].ID); r != nil {
				facts[i] = r.f
			}
		}
	}
	for i := range res.Asserts {
		a := &res.Asserts[i]
		if r := t.l.changed(t.space, a.Fact.ID); r != nil {
			a.Fact = r.f
		}
		refresh(a.Superseded)
		refresh(a.Moved)
		refresh(a.Continuations)
	}
	refresh(res.Retracted)
}

// record is what is kept of the tx: a backfill is itself a record (C-28).
func (t *txn) record() txRecord {
	r := txRecord{Kind: "write", Tenant: t.space.tenant, Actor: t.req.Actor, DeclaredKnownAt: fact.NoInstant}
	if t.backing != nil {
		r.Reason, r.DeclaredKnownAt = t.backing.Reason, t.backing.KnownAt
	}
	return r
}

func (t *txn) run(res *fact.Result) (*fact.Error, error) {
	if refused := t.declarations(); refused != nil {
		return refused, nil
	}
	if refused, err := t.guard(); refused != nil || err != nil {
		return refused, err
	}
	for i := range t.req.Write.Blobs {
		if err := t.addBlob(&t.req.Write.Blobs[i]); err != nil {
			return nil, err
		}
	}
	for i := range t.req.Write.Retracts {
		if refused, err := t.retract(&t.req.Write.Retracts[i], res); refused != nil || err != nil {
			return t.inRow(refused, "retracts", i), err
		}
		if t.told > fact.MaxTxBytes {
			return errTooHeavy, nil
		}
	}
	res.Asserts = slices.Grow(res.Asserts, len(t.req.Write.Asserts))
	for i := range t.req.Write.Asserts {
		a, refused, err := t.assert(&t.req.Write.Asserts[i])
		if err != nil {
			return nil, err
		}
		if refused != nil {
			return t.inRow(refused, "asserts", i), nil
		}
		if t.told > fact.MaxTxBytes {
			return errTooHeavy, nil
		}
		if !a.Duplicate {
			t.embed(&t.req.Write.Asserts[i])
		}
		res.Asserts = append(res.Asserts, a)
	}
	return nil, nil
}

// declarations refuses what C-28 does not allow to be declared: anything
// without a reason, and times that lie in the future.
func (t *txn) declarations() *fact.Error {
	check := func(known fact.Instant) *fact.Error {
		switch {
		case !known.Given():
			return nil
		case t.backing == nil || t.backing.Reason == "":
			return fact.Invalid("backfill.reason", "is required where declared_known_at is given")
		case known > t.now:
			return fact.Invalid("declared_known_at", "is in the future")
		}
		return nil
	}
	w := t.req.Write
	if w.Backfill != nil {
		if refused := check(w.Backfill.KnownAt); refused != nil {
			return refused
		}
	}
	for i := range w.Retracts {
		if refused := check(w.Retracts[i].KnownAt); refused != nil {
			return refused
		}
	}
	for i := range w.Asserts {
		if refused := check(w.Asserts[i].KnownAt); refused != nil {
			return refused
		}
	}
	return nil
}

// inRow names the row of a batch of several that was refused; nil is none.
func (t *txn) inRow(e *fact.Error, list string, i int) *fact.Error {
	w := t.req.Write
	if e == nil || len(w.Retracts)+len(w.Asserts) == 1 {
		return e
	}
	row := fmt.Sprintf("%s[%d]", list, i)
	named := *e
	named.Message = row + ": " + e.Message
	named.Field = row
	if e.Field != "" {
		named.Field += "." + e.Field
	}
	return &named
}

// guard evaluates every guard on the live view before anything is written.
func (t *txn) guard() (*fact.Error, error) {
	var failures []fact.GuardFailure
	room := maxFailureBytes
	for i := range t.req.Write.Guards {
		g := &t.req.Write.Guards[i]
		met, err := t.active(g.Subject, g.Predicate, g.Instant(t.now))
		if err != nil {
			return nil, err
		}
		current := distinctObjects(met)
		if !g.Holds(met, current) {
			met, room = within(met, room)
			failures = append(failures, failureOf(g, distinctObjects(met)))
			t.met = append(t.met, metGuard{Guard: i, IDs: idsOf(met)})
		}
	}
	return compareFailed(failures), nil
}

func failureOf(g *fact.Guard, current []fact.Object) fact.GuardFailure {
	expected := g.Object
	if g.Kind == fact.GuardAbsent {
		expected = fact.Object{}
	}
	return fact.GuardFailure{
		Subject: g.Subject, Predicate: g.Predicate, Expected: expected,
		Absent: g.Kind == fact.GuardAbsent, Current: current,
	}
}

// compareFailed is the refusal of a batch whose guards do not hold; nil where
// they do.
func compareFailed(failures []fact.GuardFailure) *fact.Error {
	if len(failures) == 0 {
		return nil
	}
	e := fact.Errorf(fact.CompareFailed, "compare failed: %d guard(s) did not match current state", len(failures))
	e.Failures = failures
	return e
}

// active returns the active facts that hold at an instant, in the order of lists.
func (t *txn) active(subject, predicate string, at fact.Instant) ([]fact.Fact, error) {
	rows, err := t.l.overlapping(t.l.line(lineKey{t.space, subject, predicate}), at, at+1)
	if err != nil {
		return nil, err
	}
	var facts []fact.Fact
	for _, r := range rows {
		if r.f.Status == fact.Active {
			facts = append(facts, r.f)
		}
	}
	slices.SortFunc(facts, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
	return facts, nil
}

// distinctObjects returns the objects of facts, each where it comes first.
func distinctObjects(facts []fact.Fact) []fact.Object {
	var objects []fact.Object
	met := make(map[string]bool, len(facts))
	for i := range facts {
		if name := facts[i].Object.Canonical(); !met[name] {
			met[name] = true
			objects = append(objects, facts[i].Object)
		}
	}
	return objects
}

// retract ends every piece of a statement (C-16).
func (t *txn) retract(q *fact.Retract, res *fact.Result) (*fact.Error, error) {
	known := t.declared(q.KnownAt)
	t.known = known
	r, err := t.l.find(t.space, q.ID)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return fact.Errorf(fact.NotFound, "fact %s not found", q.ID), nil
	}
	res.RetractedIDs = append(res.RetractedIDs, q.ID)
	pieces, err := t.l.pieces(r)
	if err != nil {
		return nil, err
	}
	pieces = slices.DeleteFunc(pieces, func(p *row) bool { return p.f.Status == fact.Retracted })
	if refused := t.untimely(pieces, known); refused != nil {
		return refused, nil
	}
	for _, p := range pieces {
		f := t.touch(p)
		f.Status, f.Pending = fact.Retracted, false
		f.ValidUntil = max(f.ValidFrom, min(f.ValidUntil, t.versionKnown()))
		t.tell(fact.OpRetract, p)
		res.Retracted = append(res.Retracted, *f)
	}
	return nil, nil
}

// untimely is the Conflict of a retraction that is declared to have been known
// before what it ends (C-28).
func (t *txn) untimely(pieces []*row, known fact.Instant) *fact.Error {
	if !known.Given() {
		return nil
	}
	var later []*fact.Fact
	for _, p := range pieces {
		if p.f.VersionKnownAt > known {
			later = append(later, &p.f)
		}
	}
	return conflict(later, "the retraction is declared to have been known before %d fact(s) that it ends")
}

// pieces returns every piece of a fact's statement, by (valid_from, id).
func (l *ledger) pieces(r *row) ([]*row, error) {
	t := l.line(lineKey{r.space, r.f.Subject, r.f.Predicate})
	said, err := l.statements(t, r.f.Object, r.f.Source, r.f.StatedFrom)
	if err != nil {
		return nil, err
	}
	root := r.f.Statement()
	var pieces []*row
	for _, p := range said {
		if p.f.Statement() == root {
			pieces = append(pieces, p)
		}
	}
	return pieces, nil
}
