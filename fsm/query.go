package fsm

import (
	"context"
	"errors"
	"slices"

	"abagraph/fact"
)

// selector decides whether a version of a fact belongs in an answer (C-20 to
// C-22).
type selector struct {
	q        *fact.Query
	statuses fact.StatusSet
	// at is the valid time that a fact must hold at; NoInstant = any.
	at fact.Instant
	// retracted adds every retracted fact, whether it holds or not.
	retracted bool
	past      bool
	tx        uint64       // of a read at a tx
	recorded  fact.Instant // its record time, or the time that KnownAt names
	known     bool         // versions count from when they were known
	// capped hides what was recorded after the tx cap, of record time capAt, from
	// a read of known time (C-55).
	capped bool
	cap    uint64
	capAt  fact.Instant
}

func (v *View) selector(ctx context.Context, q *fact.Query) (*selector, error) {
	s := &selector{q: q, at: q.At.AsOf}
	now := q.At.Now
	if q.At.Past() {
		s.past = true
		if err := v.pin(ctx, s); err != nil {
			return nil, err
		}
		now = s.recorded
	}
	switch {
	case q.StatusGiven:
		s.statuses = q.Statuses
	case q.At.AsOf.Given():
		s.statuses = fact.StatusSet(0).With(fact.Active).With(fact.Superseded)
		if q.IncludeRetracted {
			s.statuses = s.statuses.With(fact.Retracted)
		}
	case q.TxGtGiven:
		s.statuses = fact.AllStatuses
	default:
		s.statuses = fact.StatusSet(0).With(fact.Active)
		s.at = now
		if q.IncludeRetracted {
			s.statuses, s.retracted = s.statuses.With(fact.Retracted), true
		}
	}
	return s, nil
}

// pin settles which versions a read of the past sees.
func (v *View) pin(ctx context.Context, s *selector) error {
	at := s.q.At
	var err error
	if at.Pinned {
		s.tx = at.Tx
		s.recorded, err = v.RecordTime(ctx, at.Tx)
		return err
	}
	s.recorded, s.known = at.KnownAt, !at.NoBackfill
	s.tx, err = v.TxAt(ctx, at.KnownAt)
	return err
}

// stabs reports whether every status asked for must hold at one instant, so
// that the interval index answers without reading the whole history.
func (s *selector) stabs() bool { return s.at.Given() && !s.retracted }

// sees reports whether the version that is current now was so in the past that
// is read, too.
func (s *selector) sees(f *fact.Fact) bool {
	switch {
	case !s.past:
		return true
	case s.known:
		return f.VersionKnownAt <= s.recorded && (!s.capped || f.Tx <= s.cap)
	}
	return f.Tx <= s.tx
}

// saw reports whether a version that was replaced since was current then.
func (s *selector) saw(v *version) bool {
	if s.capped {
		return v.tx <= s.cap && v.known <= s.recorded && (v.end.tx > s.cap || s.recorded < v.end.known)
	}
	if s.known {
		return v.known <= s.recorded && s.recorded < v.end.known
	}
	return v.tx <= s.tx && s.tx < v.end.tx
}

// mayAccept applies the filters that a version alone can be judged by.
func (s *selector) mayAccept(v *version) bool {
	return s.statuses.Has(v.status) && (!s.q.TxGtGiven || v.tx > s.q.TxGt) &&
		(!s.stabs() || v.from <= s.at && s.at < v.until)
}

// accepts applies every filter to a version that is seen.
func (s *selector) accepts(f *fact.Fact) bool {
	q := s.q
	if q.Subject != "" && f.Subject != q.Subject || q.Predicate != "" && f.Predicate != q.Predicate {
		return false
	}
	if len(q.Predicates) > 0 && !slices.Contains(q.Predicates, f.Predicate) {
		return false
	}
	if !s.statuses.Has(f.Status) || q.TxGtGiven && f.Tx <= q.TxGt {
		return false
	}
	if s.at.Given() && !f.Holds(s.at) && !(s.retracted && f.Status == fact.Retracted) {
		return false
	}
	if !q.Sight.Sees(f) {
		return false
	}
	return len(q.Objects) == 0 || slices.ContainsFunc(q.Objects, f.Object.Equal)
}

// Facts answers a query from the narrowest index: subject, then predicate, then
// object, then all (C-27).
//
// A live or as-of read of a subject is bounded by what holds then; a live read
// of a predicate or an object by the active facts that are newer than the last
// one answered. A read by status, or of the past without a subject, looks at
// every fact of its index, or at every row, whichever is less work.
func (v *View) Facts(ctx context.Context, q *fact.Query) (*fact.Page, error) {
	sel, err := v.selector(ctx, q)
	if err != nil {
		return nil, err
	}
	c := newCollector(q)
	if err := v.collect(ctx, sel, c, q.Scope); err != nil {
		return nil, err
	}
	return c.page(indexOf(q)), nil
}

// collect gathers what a selector accepts, from one tenant after another.
func (v *View) collect(ctx context.Context, sel *selector, c *collector, scope fact.Scope) error {
	tenants, err := v.tenants(scope)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if scope.Branch == fact.MainBranch {
			r := &reading{ctx: ctx, v: v, sel: sel, space: space{tenant, scope.Branch}, into: c}
			if err := r.run(); err != nil {
				return err
			}
			continue
		}
		sheets, err := v.pile(space{tenant, scope.Branch}, sel)
		if err != nil {
			return err
		}
		for i := range sheets {
			r := &reading{ctx: ctx, v: v, sel: sheets[i].sel, space: sheets[i].space, above: sheets[:i], into: c}
			if err := r.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexOf(q *fact.Query) string {
	switch {
	case q.Subject != "":
		return "by_subject"
	case q.Predicate != "":
		return "by_predicate"
	case len(q.Objects) > 0:
		return "by_object"
	}
	return fullScan
}

const fullScan = "full_scan"

// reading runs a query in one tenant's branch.
type reading struct {
	ctx   context.Context
	v     *View
	sel   *selector
	space space
	above []sheet // the layers that lie over it
	into  *collector
	taken int // facts that were taken in
	tried int // entries of a list that were looked at
}

// add takes in a fact that the filters accept, unless a layer above has it.
func (r *reading) add(f *fact.Fact) error {
	if len(r.above) > 0 {
		if hidden, err := r.v.hidden(r.above, f.ID); hidden || err != nil {
			return err
		}
	}
	r.into.add(f)
	r.taken++
	if r.into.enough {
		return errEnough
	}
	return nil
}

func (r *reading) run() error {
	r.into.begin()
	q, sel := r.sel.q, r.sel
	narrow := q.Predicate != "" || len(q.Objects) > 0
	switch {
	case q.Subject != "":
		return r.bySubject()
	case q.TxGtGiven && sel.past && !sel.known:
		return r.orEverything(r.byEvents(sel.tx))
	case narrow:
		return r.orEverything(r.byIndex())
	case sel.past && !r.near():
		return r.everything()
	case q.TxGtGiven:
		return r.orEverything(r.byEvents(r.v.state.Tx))
	}
	return r.orEverything(r.newestFirst())
}

// shortList is how long a list may be for it to be read to its end, however little it
// gives.
const shortList = 256

// What an entry of a list costs, whose fact lies anywhere in the store, in rows that
// are read in the order in which they lie, and in rows that are passed over by their keys.
const (
	listedInRead   = 8
	listedInPassed = 32
)

var errLongList = errors.New("a long list")

// patient returns an error where more of a list was looked at than all rows would cost:
// what holds at an instant may lie at its end, behind all that came later. So a read
// costs at most twice what the better of the two ways does.
func (r *reading) patient() error {
	r.tried++
	if most := r.into.glances; most > 0 && r.tried > most {
		return errLongList
	}
	if r.tried%r.v.m.shortList != 0 || r.into.visit != nil {
		return nil
	}
	cost := int64(listedInRead)
	if r.sel.stabs() {
		cost = listedInPassed
	}
	if r.sel.past {
		cost *= 2 // its versions are looked up, too
	}
	c, err := readCounters(r.v.snap, r.space)
	if err == nil && int64(r.tried)*cost > c.rows() {
		err = errLongList
	}
	return err
}

// orEverything reads all rows instead, where a list has turned out to be long.
func (r *reading) orEverything(err error) error {
	if !errors.Is(err, errLongList) || r.into.glances > 0 {
		return err
	}
	r.into.again()
	return r.everything()
}

// maxNear is how many txs may lie between a state that is read and the present, for
// its lists to be read from the newest on: each fact that was changed in between
// costs a look at its versions.
const maxNear = 4096

// near reports whether the state at a tx is so little behind the present that a list
// of it is best read from the newest fact on, as a live one is. A branch that was
// forked lately reads its parent so.
func (r *reading) near() bool {
	sel := r.sel
	return !sel.known && !sel.q.TxGtGiven && r.v.state.Tx-min(sel.tx, r.v.state.Tx) <= maxNear
}

// bySubject reads the rows of a subject, and of the past also its versions.
func (r *reading) bySubject() error {
	if r.space.branch != fact.MainBranch {
		// Most subjects have nothing on a branch itself.
		if there, err := has(r.v.snap, r.space.marker(r.sel.q.Subject)); !there || err != nil {
			return err
		}
	}
	if done, err := r.hot(); done || err != nil {
		return err
	}
	for status := fact.Active; status <= fact.Retracted; status++ {
		if !r.sel.statuses.Has(status) {
			continue
		}
		if err := r.rows(status); err != nil {
			return err
		}
	}
	if r.sel.past {
		return r.versions()
	}
	return nil
}

// rows reads the subject's rows of one status.
func (r *reading) rows(status fact.Status) error {
	q := r.sel.q
	prefix := r.space.class(q.Subject, status)
	if q.Predicate != "" {
		prefix = r.space.line(q.Subject, q.Predicate, status)
	}
	it, err := r.v.over(prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer r.v.giveBack(it)
	visit := func() error {
		if err := r.step(); err != nil {
			return err
		}
		f, err := rowValue(it)
		if err != nil {
			return err
		}
		if r.sel.sees(&f) && r.sel.accepts(&f) {
			return r.add(&f)
		}
		return nil
	}
	if r.sel.stabs() {
		return scanWindow(it, r.sel.at, r.sel.at+1, visit)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := visit(); err != nil {
			return err
		}
	}
	return it.Error()
}

// step counts a row and lets a cancelled read end.
func (r *reading) step() error {
	r.into.scanned++
	if r.into.scanned%256 == 0 {
		return r.ctx.Err()
	}
	return nil
}

// versions reads the subject's versions that were replaced since.
func (r *reading) versions() error {
	q, sel := r.sel.q, r.sel
	prefix := appendString(r.space.prefix(famVersion), q.Subject)
	if q.Predicate != "" {
		prefix = appendString(prefix, q.Predicate)
	}
	return r.v.replaced(prefix, sel, nil, func(v *version) error {
		if err := r.step(); err != nil {
			return err
		}
		if !sel.mayAccept(v) {
			return nil
		}
		return r.addVersion(v)
	})
}

// addVersion adds a past version, if the filters accept the fact that it was.
func (r *reading) addVersion(v *version) error {
	now, err := readFact(r.v.snap, r.space, v.id)
	if err != nil {
		return err
	}
	if now == nil {
		return fact.Errorf(fact.StorageCorruption, "a version names fact %s, which is not there", v.id)
	}
	if f := v.of(now); r.sel.accepts(&f) {
		return r.add(&f)
	}
	return nil
}

// replaced visits the versions that were replaced since and that a selector sees. step,
// unless it is nil, is called now and then where others are passed over.
func (v *View) replaced(prefix []byte, sel *selector, step func() error, visit func(*version) error) error {
	for round := range sel.rounds() {
		if err := v.replacedIn(prefix, successor(prefix), sel, round, step, visit); err != nil {
			return err
		}
	}
	return nil
}

// rounds is how often the versions are gone through: under a cap, what was replaced only
// after it counts as not replaced, however early that is declared to have been known.
func (s *selector) rounds() int {
	if s.capped {
		return 2
	}
	return 1
}

// replacedIn is one round of replaced over a range.
func (v *View) replacedIn(lower, upper []byte, sel *selector, round int, step func() error, visit func(*version) error) error {
	at := sel.recorded
	if round > 0 {
		at = sel.capAt
	}
	return v.scanVersions(lower, upper, at, step, func(axis byte, w *version) error {
		switch {
		case !sel.saw(w), round == 0 && (!sel.onAxis(axis, w) || sel.capped && w.end.tx > sel.cap),
			round > 0 && (axis != axisRecorded || w.end.tx <= sel.cap):
			return nil
		}
		return visit(w)
	})
}

// onAxis lets a version that lies on both axes count once: on that of known
// time where the read goes by it.
func (s *selector) onAxis(axis byte, v *version) bool {
	if !s.known {
		return axis == axisRecorded
	}
	both := v.known != v.at || v.end.known != v.end.at
	return both == (axis == axisKnown)
}

// byIndex reads the index of a predicate or of objects.
func (r *reading) byIndex() error {
	q, sel := r.sel.q, r.sel
	var prefixes [][]byte
	if q.Predicate != "" {
		prefixes = append(prefixes, r.space.byPredicate(q.Predicate))
	} else {
		for i, o := range q.Objects {
			if !slices.ContainsFunc(q.Objects[:i], o.Equal) { // 1 and 1.0 are one value
				prefixes = append(prefixes, r.space.byObject(o))
			}
		}
	}
	statuses := sel.statuses
	if sel.past {
		statuses = fact.AllStatuses // what it is now says nothing of what it was
	}
	m, err := newMerge(r.v, prefixes, statuses, q.TxGtGiven && !sel.past, q.TxGt)
	if err != nil {
		return err
	}
	return errors.Join(r.inOrder(m), m.close())
}

// ordered gives the entries of indexes in the order of lists, or oldest first.
type ordered interface {
	// next moves to the next entry and tells its tx and id.
	next() (tx uint64, id fact.ID, ok bool, err error)
}

// inOrder reads the facts of an order, and stops when the page is full. Of a state
// at a tx the rows that have changed since come first, in the order of the changes;
// those that have not are in the order of that state.
func (r *reading) inOrder(from ordered) error {
	settled, pinned := 0, r.sel.past && !r.sel.known && !r.sel.q.TxGtGiven && r.into.visit == nil
	for {
		tx, id, ok, err := from.next()
		if err != nil || !ok {
			return err
		}
		if err := r.step(); err != nil {
			return err
		}
		if !r.sel.past && r.into.full(tx) {
			r.into.limitHit = true
			return nil
		}
		if err := r.patient(); err != nil {
			return err
		}
		if pinned && settled >= r.into.limit {
			r.into.limitHit = true
			return nil
		}
		f, err := readFact(r.v.snap, r.space, id)
		if err != nil {
			return err
		}
		if f == nil {
			return fact.Errorf(fact.StorageCorruption, "an index names fact %s, which is not there", id)
		}
		before := r.taken
		if err := r.consider(f); err != nil {
			return err
		}
		if pinned && tx <= r.sel.tx {
			settled += r.taken - before
		}
	}
}

// everything reads all rows, and of the past all versions around that time.
func (r *reading) everything() error {
	var failed error
	take := func(f *fact.Fact) bool {
		failed = r.add(f)
		return failed == nil
	}
	more, err := r.v.eachRow(r.space, r.sel, "", r.step, take)
	if more && err == nil && r.sel.past {
		_, err = r.v.eachVersion(r.space, r.sel, r.step, r.into.worth, take)
	}
	return errors.Join(err, failed)
}

// consider adds the version of a fact that the read sees.
func (r *reading) consider(f *fact.Fact) error {
	sel := r.sel
	if !sel.past || sel.sees(f) {
		if sel.accepts(f) {
			return r.add(f)
		}
		return nil
	}
	prefix := r.space.versions(f.Subject, f.Predicate, axisRecorded)
	prefix = prefix[:len(prefix)-1]
	return r.v.replaced(prefix, sel, nil, func(v *version) error {
		if was := v.of(f); v.id == f.ID && sel.accepts(&was) {
			return r.add(&was)
		}
		return nil
	})
}
