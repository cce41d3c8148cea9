package fsm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// yield is what a branch changes of its parent, statement by statement: what its
// diff tells and what a promotion carries over (C-55).
type yield struct {
	// asserts are the statements that were made on the branch and stand, each by
	// the piece that shows it best, in the order in which they were made.
	asserts []fact.Fact
	// retracts are the inherited statements that were retracted on the branch,
	// each by one piece; replaced the inherited facts that it changed otherwise.
	retracts []fact.Fact
	replaced []fact.Fact
}

// yieldOf sorts a branch's own rows. A statement is inherited where its first
// piece is not the branch's own, or is one of those that the branch has changed.
func yieldOf(rows []fact.Fact, base uint64, now fact.Instant) *yield {
	y := &yield{}
	slices.SortFunc(rows, func(a, b fact.Fact) int { return compareIDs(a.ID, b.ID) })
	own := make(map[fact.ID]*fact.Fact, len(rows))
	for i := range rows {
		if f := &rows[i]; f.FirstTx > base && f.Continues.IsZero() {
			own[f.ID] = f
		}
	}
	best := make(map[fact.ID]*fact.Fact, len(own))
	retracted := make(map[fact.ID]bool)
	for i := range rows {
		f := &rows[i]
		root := f.Statement()
		switch {
		case own[root] != nil:
			if carried(f, now) && (best[root] == nil || shows(f, best[root], now)) {
				best[root] = f
			}
		case f.FirstTx > base: // made by a change, of an inherited statement
		case f.Status == fact.Retracted:
			if !retracted[root] {
				retracted[root] = true
				y.retracts = append(y.retracts, *f)
			}
		default:
			y.replaced = append(y.replaced, *f)
		}
	}
	for i := range rows {
		if f := best[rows[i].ID]; f != nil { // a row that is a first piece
			y.asserts = append(y.asserts, *f)
		}
	}
	slices.SortFunc(y.asserts, func(a, b fact.Fact) int {
		return cmp.Or(cmp.Compare(own[a.Statement()].FirstTx, own[b.Statement()].FirstTx), compareIDs(a.Statement(), b.Statement()))
	})
	slices.SortFunc(y.retracts, oldestChange)
	slices.SortFunc(y.replaced, oldestChange)
	return y
}

func oldestChange(a, b fact.Fact) int { return cmp.Or(cmp.Compare(a.Tx, b.Tx), compareIDs(a.ID, b.ID)) }

func compareIDs(a, b fact.ID) int { return bytes.Compare(a[:], b[:]) }

// carried reports whether a piece lets its statement be carried over: a candidate
// does, and a fact that holds some time; of an undated statement one that is not
// over, since on the parent it begins when it is promoted.
func carried(f *fact.Fact, now fact.Instant) bool {
	switch {
	case f.ValidFrom >= f.ValidUntil:
		return false
	case f.Status == fact.Candidate || f.Status == fact.Active:
		return f.Dated || f.StatedUntil > now
	}
	return f.Dated && stands(f)
}

// shows reports whether a piece shows its statement better than another one: the
// one that holds, else the later one.
func shows(a, b *fact.Fact, now fact.Instant) bool {
	if a.Holds(now) != b.Holds(now) {
		return a.Holds(now)
	}
	return compareStart(a, b) > 0
}

// claim is the statement as it is asserted on the parent: with its id, its policy
// and its dates, an undated one from now on.
func claimOf(f *fact.Fact) *fact.Assert {
	a := &fact.Assert{
		ID: f.Statement(), Subject: f.Subject, Predicate: f.Predicate, Object: f.Object,
		ValidFrom: fact.NoInstant, ValidUntil: f.StatedUntil, Confidence: f.Confidence, Source: f.Source,
		Properties: f.Properties, Policy: f.Policy, Transient: f.Transient, KnownAt: f.DeclaredKnownAt,
	}
	if f.Dated {
		a.ValidFrom = f.StatedFrom
	}
	return a
}

// promotion lays what a branch yields over its parent: retractions, then
// statements, all or nothing, in one tx.
func (l *ledger) promotion(req *fact.Request, now fact.Instant, res *fact.Result) (*fact.Error, error) {
	s := space{req.Tenant, req.Branching.Name}
	rec, err := l.branch(s)
	if err != nil {
		return nil, err
	}
	if refused := closed(rec, s.branch); refused != nil {
		return refused, nil
	}
	if refused, err := l.closedBranch(space{req.Tenant, rec.Parent}); refused != nil || err != nil {
		return refused, err
	}
	rows, err := l.ownFacts(s)
	if err != nil {
		return nil, err
	}
	onto := *req
	onto.Branch, onto.Explain = rec.Parent, false
	p := &promoter{txn: l.begin(&onto, now), from: s, base: rec.BaseTx, res: &fact.BranchResult{Op: req.Branching.Op, DryRun: req.Branching.DryRun}}
	refused, err := p.run(yieldOf(rows, rec.BaseTx, now))
	if err != nil || refused != nil || p.res.DryRun {
		p.rollback()
		p.res.Branch = *rec
		res.Branching = p.res
		return refused, err
	}
	p.settleBranch()
	rec = p.close(rec, fact.BranchPromoted)
	p.res.Branch = *rec
	res.Branching = p.res
	return nil, l.register(req, s, rec, p.txn, res)
}

// promoter is a promotion being judged.
type promoter struct {
	*txn
	from space
	base uint64
	res  *fact.BranchResult
	seen map[fact.ID]bool // what was told to be superseded
	room int              // for the facts of conflicts
}

func (p *promoter) run(y *yield) (*fact.Error, error) {
	p.seen, p.room = make(map[fact.ID]bool), maxFailureBytes
	for i := range y.retracts {
		if err := p.carryRetraction(&y.retracts[i]); err != nil {
			return nil, err
		}
	}
	for i := range y.asserts {
		if refused, err := p.carry(&y.asserts[i]); refused != nil || err != nil {
			return refused, err
		}
		if p.told > fact.MaxTxBytes {
			return errTooHeavy, nil
		}
	}
	return nil, nil
}

// carryRetraction retracts a statement on the parent, if it is there still.
func (p *promoter) carryRetraction(f *fact.Fact) error {
	p.known = fact.NoInstant
	r, err := p.l.find(p.space, f.ID)
	if err != nil || r == nil {
		return err
	}
	if r.f.Tx > p.base && r.f.Tx != p.tx {
		p.conflict(fact.ParentChanged, f, []fact.Fact{r.f})
	}
	done := &fact.Result{}
	if _, err := p.retract(&fact.Retract{ID: f.ID, KnownAt: fact.NoInstant}, done); err != nil {
		return err
	}
	if len(done.Retracted) > 0 {
		p.res.Retracted++
	}
	return nil
}

// carry asserts a statement on the parent.
func (p *promoter) carry(f *fact.Fact) (*fact.Error, error) {
	a := claimOf(f)
	p.req.Threshold = 0
	if f.Status == fact.Candidate {
		p.req.Threshold = 2 // a candidate stays one, whatever the threshold is now
	}
	if f.Status != fact.Candidate && f.Policy != fact.Coexist {
		if err := p.changedSince(f, a); err != nil {
			return nil, err
		}
	}
	done, refused, err := p.assert(a)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return p.rejected(f, refused)
	}
	p.res.Promoted++
	if done.Duplicate {
		p.res.Unchanged++
	} else if err := p.carryVectors(a.ID); err != nil {
		return nil, err
	}
	for i := range done.Superseded {
		if id := done.Superseded[i].ID; !p.seen[id] {
			p.seen[id] = true
			p.res.Superseded = append(p.res.Superseded, id)
		}
	}
	return nil, nil
}

// carryVectors gives a statement on the parent the vectors that it has on the
// branch.
func (p *promoter) carryVectors(statement fact.ID) error {
	if p.res.DryRun {
		return nil
	}
	prefix := p.from.vectorsOf(statement)
	it, err := p.l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	list := p.l.vectors.of(vectorOwner{p.from, statement})
	for ok := it.First(); ok; ok = it.Next() {
		m, fine := cutModel(it.Key()[len(prefix):])
		at, err := it.ValueAndErr()
		if err != nil || !fine || len(at) != 8 {
			return fact.Errorf(fact.StorageCorruption, "the place of a vector cannot be read")
		}
		b, err := get(p.l.base, p.from.vector(binary.BigEndian.Uint64(at), statement, m))
		if err != nil {
			return err
		}
		list = append(list, newVector{statement: statement, model: m, numbers: entry.DecodeVector(b)})
	}
	if err := it.Error(); err != nil {
		return storageError("read the vectors of a statement", err)
	}
	for _, v := range list {
		v.space = p.space
		p.vectors = append(p.vectors, v)
	}
	return nil
}

// rejected is a statement that the parent does not take. It ends a promotion; a
// dry run goes on, to name the others.
func (p *promoter) rejected(f *fact.Fact, refused *fact.Error) (*fact.Error, error) {
	if !p.res.DryRun || refused.Code != fact.Conflict {
		named := *refused
		named.Message = "fact " + f.Statement().String() + " cannot be promoted: " + refused.Message
		return &named, nil
	}
	var met []fact.Fact
	for _, id := range refused.IDs {
		r, err := p.l.find(p.space, id)
		if err != nil {
			return nil, err
		}
		if r != nil && len(met) < fact.MaxConflicts {
			met = append(met, r.f)
		}
	}
	p.conflict(fact.Rejected, f, met)
	return nil, nil
}

// changedSince notes the facts that a statement conflicts with and that the
// branch has never seen as they are: they were made or changed after the fork.
func (p *promoter) changedSince(f *fact.Fact, a *fact.Assert) error {
	c, refused := p.claim(a)
	if refused != nil {
		return nil // assert refuses it, too
	}
	rows, err := p.l.overlapping(c.line, c.start, c.end)
	if err != nil {
		return err
	}
	var met []fact.Fact
	for _, r := range rows {
		if r.f.Tx > p.base && r.f.Tx != p.tx && c.conflicts(&r.f) {
			met = append(met, r.f)
		}
	}
	if len(met) > 0 {
		p.conflict(fact.ParentChanged, f, met)
	}
	return nil
}

func (p *promoter) conflict(why fact.ConflictReason, f *fact.Fact, with []fact.Fact) {
	p.res.ConflictCount++
	if p.room -= f.Weight(); p.room < 0 || len(p.res.Conflicts) == fact.MaxConflicts {
		p.room = -1
		return
	}
	with, p.room = within(with, p.room)
	p.res.Conflicts = append(p.res.Conflicts, fact.BranchConflict{Reason: why, Fact: *f, With: slices.Clone(with)})
}

// settleBranch lets the conflicts show the parent's facts as the tx left them.
func (p *promoter) settleBranch() {
	for i := range p.res.Conflicts {
		for j := range p.res.Conflicts[i].With {
			f := &p.res.Conflicts[i].With[j]
			if r := p.l.changed(p.space, f.ID); r != nil {
				*f = r.f
			}
		}
	}
}

// ownFacts returns the rows of a branch, changes of this call included.
func (l *ledger) ownFacts(s space) ([]fact.Fact, error) {
	var facts []fact.Fact
	weight := 0
	take := func(f *fact.Fact) error {
		if weight += f.Weight(); weight > fact.MaxTxBytes {
			return errTooHeavy
		}
		facts = append(facts, *f)
		return nil
	}
	err := eachOwn(l.base, s, func(f *fact.Fact) error {
		if l.changed(s, f.ID) != nil {
			return nil
		}
		return take(f)
	})
	if err != nil {
		return nil, err
	}
	for _, r := range l.order {
		if r.space == s && !r.gone && !r.untouched() {
			if err := take(&r.f); err != nil {
				return nil, err
			}
		}
	}
	return facts, nil
}

// eachOwn visits the rows of a branch as they lie in the store.
func eachOwn(r pebble.Reader, s space, visit func(*fact.Fact) error) error {
	prefix := s.prefix(famTimeline)
	it, err := openIter(r, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a row", err)
		}
		if len(b) == 0 {
			continue // a marker or a statement
		}
		f, err := entry.DecodeFact(b)
		if err != nil {
			return fact.Errorf(fact.StorageCorruption, "a row cannot be read: %v", err)
		}
		if err := visit(&f); err != nil {
			return err
		}
	}
	return it.Error()
}
