package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
	"abagraph/memory/check"
)

// Axis says which of the two times moves between the two states of a diff.
type Axis uint8

// The axes. On one of them alone, the other time is that of the later state.
const (
	BothAxes Axis = iota
	ValidAxis
	KnownAxis
)

var axisNames = [...]string{"both", "valid", "known"}

// String returns the word that answers carry.
func (a Axis) String() string { return axisNames[a] }

// ParseAxis reads an axis.
func ParseAxis(field, text string) (Axis, error) {
	for i, name := range axisNames {
		if text == name {
			return Axis(i), nil
		}
	}
	return 0, fact.Invalid(field, "has no such value: "+shorten(text)+" (both, valid or known)")
}

// ChangesQuery asks what changed from one instant to another: what held at From as
// it was known then, against what held at To as it was known then. Make its Read
// with NewRead: its AsOf is the valid time of both states, where it is given, and
// its record time that of both.
type ChangesQuery struct {
	Read
	Narrow
	From fact.Instant
	To   fact.Instant // NoInstant = now
	Axis Axis
}

// still reports whether both states are one: the time that the axis moves is fixed.
func (q *ChangesQuery) still() bool {
	valid := q.Axis != KnownAxis && !q.AsOf.Given()
	known := q.Axis != ValidAxis && !q.Pinned && !q.KnownAt.Given()
	return !valid && !known
}

// Changes is a page of a diff, by subject. Statements are compared: one that was
// cut or moved meanwhile still holds. The counts are of all from the place on
// where the page begins; Next is where the next one does, "" = there is none.
type Changes struct {
	From, To fact.Instant
	Axis     Axis
	// Added held at To and not at From. Superseded held at From and not at To,
	// as they stand at To.
	Added      []fact.Fact
	Superseded []fact.Fact
	// Retracted and Expired are those of Superseded that no other fact ended:
	// they were retracted, or their time is over.
	Retracted []fact.ID
	Expired   []fact.ID

	AddedTotal      int
	SupersededTotal int
	StillValid      int
	Next            string
}

// Changes compares two states.
func (s *Service) Changes(ctx context.Context, c Caller, q *ChangesQuery, trace *Trace) (*Changes, Meta, error) {
	later := q.Read
	if q.To.Given() {
		if q.From > q.To {
			return nil, Meta{}, fact.Invalid("from", "must not be later than to")
		}
		if !later.Pinned && !later.KnownAt.Given() {
			later.KnownAt = q.To
		}
		if !later.AsOf.Given() {
			later.AsOf = q.To
		}
	}
	r, done, err := s.looking(ctx, c, later, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer done()
	d := &differ{r: r, q: q, page: listing{limit: q.size()}, found: &Changes{From: q.From, To: q.To, Axis: q.Axis}}
	if !q.To.Given() {
		d.found.To = r.meta.Now
		if r.at.AsOf = q.AsOf; !q.AsOf.Given() {
			r.at.AsOf = r.meta.Now
		}
		if q.From > d.found.To {
			return nil, r.meta, fact.Invalid("from", "must not be later than to, which is now")
		}
	}
	if err := d.run(); err != nil {
		return nil, r.meta, err
	}
	if q.still() {
		r.warnOnce("nothing can differ between from and to: the times that axis moves are fixed by as_of, known_at or tx")
	}
	if d.found.AddedTotal+d.found.SupersededTotal+d.found.StillValid == 0 {
		if err := r.warnNothing(q.Subject); err != nil {
			return nil, r.meta, err
		}
	}
	trace.Step("execute", "by_subject")
	trace.Name("changes", "by_subject index → what held at from, what held at to → compare")
	trace.Int("candidates_scanned", d.scanned)
	trace.Int("added", d.found.AddedTotal)
	trace.Int("superseded", d.found.SupersededTotal)
	trace.Int("still_valid", d.found.StillValid)
	trace.Bool("limit_hit", d.found.Next != "")
	return d.found, r.meta, nil
}

// differ goes through the subjects.
type differ struct {
	r       *reading
	q       *ChangesQuery
	page    listing
	found   *Changes
	scanned int
}

// earlier is the point in both times of the state that is compared with.
func (d *differ) earlier() (fact.At, error) {
	before := d.q.Read
	before.AsOf = d.r.at.AsOf
	if d.q.Axis != KnownAxis && !d.q.AsOf.Given() {
		before.AsOf = d.q.From
	}
	if d.q.Axis == ValidAxis || before.Pinned || before.KnownAt.Given() {
		at := d.r.at
		at.AsOf = before.AsOf
		return at, nil
	}
	before.KnownAt = d.q.From
	old := *d.r
	if err := old.locate(before, fact.Basis{Now: d.r.at.Now}); err != nil {
		return fact.At{}, err
	}
	return old.at, nil
}

func (d *differ) run() error {
	from, err := d.earlier()
	if err != nil {
		return err
	}
	n := &d.q.Narrow
	q := n.subjects(d.r, n.query(from), n.query(d.r.at))
	err = d.r.view.EachSubject(d.r.ctx, q, func(s *fact.SubjectFacts) (bool, error) {
		d.scanned += s.Scanned
		if !n.admit(s) {
			return false, nil
		}
		return true, d.subject(s)
	})
	if err != nil {
		return fmt.Errorf("compare two states: %w", err)
	}
	return nil
}

func (d *differ) subject(s *fact.SubjectFacts) error {
	added, gone, still := check.Diff(s.Lists[0], s.Lists[1])
	f := d.found
	f.AddedTotal += len(added)
	f.SupersededTotal += len(gone)
	f.StillValid += still
	if d.page.full {
		if f.Next == "" && len(added)+len(gone) > 0 {
			f.Next = d.r.next(d.page.last)
		}
		return nil
	}
	for i := range gone {
		if err := d.ended(s.Tenant, &gone[i]); err != nil {
			return err
		}
	}
	f.Added = append(f.Added, added...)
	f.Superseded = append(f.Superseded, gone...)
	d.page.add(added)
	d.page.add(gone)
	d.page.rows += len(added) + len(gone)
	d.page.end(s.SubjectPlace)
	d.r.meta.Backfilled = addCounts(d.r.meta.Backfilled, declared(added))
	d.r.meta.Backfilled = addCounts(d.r.meta.Backfilled, declared(gone))
	return nil
}

// ended shows a fact that is gone as it stands in the later state, and notes why
// it is gone. One that was deleted is shown as it was.
func (d *differ) ended(tenant string, f *fact.Fact) error {
	at := d.r.at
	at.AsOf = fact.NoInstant
	st, err := d.r.view.Fact(d.r.ctx, fact.Scope{Tenant: tenant, Branch: d.r.scope.Branch}, f.ID, at)
	if fact.CodeOf(err) == fact.NotFound {
		d.found.Expired = append(d.found.Expired, f.ID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at a fact that is gone: %w", err)
	}
	*f = st.Fact
	switch {
	case f.Status == fact.Retracted:
		d.found.Retracted = append(d.found.Retracted, f.ID)
	case f.SupersededBy.IsZero():
		d.found.Expired = append(d.found.Expired, f.ID)
	}
	return nil
}
