package model

import (
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
)

// Model is a store of facts in memory. Make one with New.
type Model struct {
	versions []version      // every version of every fact, in the order of tx
	times    []fact.Instant // the record time of each tx: tx 1 comes first
	last     fact.Instant   // the newest record time that anything was judged at
	events   []event
	kept     []outcome // oldest first
	branches []fact.Branch
}

// version is one fact as one tx left it.
type version struct {
	fact.Fact
	// staged tells that the fact was asserted below the threshold. It never
	// becomes a statement, not even after its promotion closed it (C-15).
	staged bool
	// on is the branch on which this copy of the version is read, home the one on
	// which it was written.
	on, home string
}

// New makes an empty store.
func New() *Model { return &Model{last: fact.NoInstant} }

// Tx returns the newest tx, 0 in an empty store (C-24).
func (m *Model) Tx() uint64 { return uint64(len(m.times)) }

// RecordedAt returns the newest record time that anything was judged at, or
// NoInstant. A request that wrote nothing counts too: what it was told was so
// at that time, and time never runs backwards (C-23).
func (m *Model) RecordedAt() fact.Instant { return m.last }

// Apply judges one write. A request is all or nothing: a refused one leaves
// nothing behind but its idempotent outcome, and one that changes nothing
// takes no tx (C-24, C-34).
func (m *Model) Apply(proposedAt fact.Instant, req *fact.Request) *fact.Result {
	m.last = max(m.last, proposedAt)
	if result := m.recall(req); result != nil {
		return result
	}
	result := m.judge(req)
	m.remember(req, result)
	return result
}

func (m *Model) judge(req *fact.Request) *fact.Result {
	d := m.begin(req)
	err := d.run()
	if err != nil {
		m.versions = m.versions[:d.before]
		return m.refused(err)
	}
	d.result.Wrote = d.wrote
	d.settle()
	if d.wrote {
		d.commit()
	}
	d.result.Tx, d.result.RecordedAt = m.Tx(), m.last
	return &d.result
}

// settle lets an answer show every fact as the whole tx left it.
func (d *draft) settle() {
	now := map[fact.ID]fact.Fact{}
	for _, v := range d.current() {
		if v.on == d.req.Branch {
			now[v.ID] = v.Fact
		}
	}
	refresh := func(facts []fact.Fact) {
		for i := range facts {
			facts[i] = now[facts[i].ID]
		}
	}
	for i := range d.result.Asserts {
		a := &d.result.Asserts[i]
		a.Fact = now[a.Fact.ID]
		refresh(a.Superseded)
		refresh(a.Moved)
		refresh(a.Continuations)
	}
	refresh(d.result.Retracted)
}

func (m *Model) refused(err *fact.Error) *fact.Result {
	return &fact.Result{Tx: m.Tx(), RecordedAt: m.last, Err: err}
}

// draft is one tx in the making.
type draft struct {
	*Model
	req    *fact.Request
	tx     uint64
	before int  // how many versions there were
	wrote  bool // whether anything changed
	pieces int  // how many continuations this tx has made
	result fact.Result
	told   []event
}

func (m *Model) begin(req *fact.Request) *draft {
	return &draft{Model: m, req: req, tx: m.Tx() + 1, before: len(m.versions)}
}

func (d *draft) commit() {
	d.times = append(d.times, d.last)
	d.events = append(d.events, d.told...)
}

// run does the parts of a batch in their order, each seeing what came before
// it (C-34).
func (d *draft) run() *fact.Error {
	if d.req.Purge != nil {
		d.purge(d.req.Purge)
		return nil
	}
	if d.req.Branching != nil {
		return d.branching(d.req.Branching)
	}
	if err := d.open(d.req.Tenant, d.req.Branch); err != nil {
		return err
	}
	w := d.req.Write
	if w == nil {
		return fact.Invalid("", "the model knows writes and purges only")
	}
	if err := d.checkDeclarations(w); err != nil {
		return err
	}
	if err := d.checkGuards(w.Guards); err != nil {
		return err
	}
	for i := range w.Retracts {
		if err := d.retract(&w.Retracts[i]); err != nil {
			return err
		}
	}
	for i := range w.Asserts {
		if err := d.assert(&w.Asserts[i]); err != nil {
			return err
		}
	}
	return nil
}

// put leaves v as this tx's version of its fact: a fact that one tx touches
// twice has one version for it, the last.
func (d *draft) put(v version, known fact.Instant) version {
	d.wrote = true
	v.Tx, v.VersionAt, v.VersionKnownAt = d.tx, d.last, known
	v.home, v.Branch = v.on, v.on
	for i := d.before; i < len(d.versions); i++ {
		if d.versions[i].place() == v.place() {
			d.versions[i] = v
			return v
		}
	}
	d.versions = append(d.versions, v)
	return v
}

// checkGuards refuses the batch where the live view at its record time is not
// what a guard expects, naming every guard that failed (C-34).
func (d *draft) checkGuards(guards []fact.Guard) *fact.Error {
	var failures []fact.GuardFailure
	for _, g := range guards {
		holding := live(d.line(g.Subject, g.Predicate), g.Instant(d.last))
		current := distinct(holding)
		among := slices.ContainsFunc(current, g.Object.Equal)
		failure := fact.GuardFailure{Subject: g.Subject, Predicate: g.Predicate, Expected: g.Object, Current: current}
		held := among
		switch g.Kind {
		case fact.GuardExpect:
			held = among && len(current) == 1
		case fact.GuardAbsent:
			held = len(current) == 0
			failure.Expected, failure.Absent = fact.Object{}, true
		case fact.GuardSame:
			held = strings.HasPrefix(g.Object.Text, fingerprint(holding))
		}
		if !held {
			failures = append(failures, failure)
		}
	}
	if failures == nil {
		return nil
	}
	err := fact.Errorf(fact.CompareFailed, "%d of %d guards do not hold", len(failures), len(guards))
	err.Failures = failures
	return err
}

// rows returns each fact in the newest of its versions that counts.
func (m *Model) rows(counts func(*version) bool) []version {
	var rows []version
	seen := map[place]bool{}
	for i := len(m.versions) - 1; i >= 0; i-- {
		v := &m.versions[i]
		if !seen[v.place()] && counts(v) {
			seen[v.place()] = true
			rows = append(rows, *v)
		}
	}
	return rows
}

func (m *Model) current() []version { return m.rows(func(*version) bool { return true }) }

// line returns the facts of one subject and predicate, in the tenant and branch
// of the request, by valid_from, then id.
func (d *draft) line(subject, predicate string) []version {
	line := only(d.current(), func(v *version) bool {
		return d.owns(v) && v.Subject == subject && v.Predicate == predicate
	})
	return byTime(line)
}

func (d *draft) owns(v *version) bool { return v.Tenant == d.req.Tenant && v.on == d.req.Branch }

// live returns what holds at t (C-20).
func live(rows []version, t fact.Instant) []version {
	return only(rows, func(v *version) bool { return v.Status == fact.Active && v.Holds(t) })
}

func fingerprint(rows []version) string {
	var facts []fact.Fact
	for _, v := range rows {
		facts = append(facts, v.Fact)
	}
	return fact.Fingerprint(facts)
}

// distinct returns the distinct objects of facts, in the order of lists.
func distinct(rows []version) []fact.Object {
	var objects []fact.Object
	for _, v := range newestFirst(rows) {
		if !slices.ContainsFunc(objects, v.Object.Equal) {
			objects = append(objects, v.Object)
		}
	}
	return objects
}

// only returns the rows that are wanted, in the order they are in.
func only(rows []version, wanted func(*version) bool) []version {
	var kept []version
	for i := range rows {
		if wanted(&rows[i]) {
			kept = append(kept, rows[i])
		}
	}
	return kept
}

func byTime(rows []version) []version {
	slices.SortFunc(rows, func(a, b version) int {
		return cmp.Or(cmp.Compare(a.ValidFrom, b.ValidFrom), byID(a, b))
	})
	return rows
}

// newestFirst is the order of lists (C-25).
func newestFirst(rows []version) []version {
	slices.SortFunc(rows, func(a, b version) int { return cmp.Or(cmp.Compare(b.Tx, a.Tx), byID(a, b)) })
	return rows
}

func oldestFirst(rows []version) []version {
	slices.SortFunc(rows, func(a, b version) int { return cmp.Or(cmp.Compare(a.Tx, b.Tx), byID(a, b)) })
	return rows
}

func byID(a, b version) int { return slices.Compare(a.ID[:], b.ID[:]) }

func ids(rows []version) []fact.ID {
	var list []fact.ID
	for _, v := range rows {
		list = append(list, v.ID)
	}
	return list
}

func facts(rows []version) []fact.Fact {
	var list []fact.Fact
	for _, v := range rows {
		list = append(list, v.Fact)
	}
	return list
}
