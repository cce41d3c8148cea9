package fsm

import (
	"bytes"
	"fmt"
	"slices"

	"abagraph/fact"
)

// This file is C-10 to C-15: what becomes of one assert.

// claim is an assert with its times settled.
type claim struct {
	*fact.Assert
	line       *line
	start, end fact.Instant
	dated      bool
	now        fact.Instant // what "now" means to it: its declared time, or the record time
}

// assert lays one assert over its timeline.
func (t *txn) assert(a *fact.Assert) (res fact.AssertResult, refused *fact.Error, err error) {
	c, refused := t.claim(a)
	if refused != nil {
		return res, refused, nil
	}
	if bytes.Compare(a.ID[:], t.l.state.MaxID[:]) <= 0 {
		there, err := t.l.find(t.space, a.ID)
		if err != nil {
			return res, nil, err
		}
		if there != nil {
			return res, conflict([]*fact.Fact{&there.f}, "%d fact has this id already"), nil
		}
	}
	if !t.req.Explain {
		return t.place(c)
	}
	before, err := t.holding(c.line)
	if err != nil {
		return res, nil, err
	}
	if res, refused, err = t.place(c); refused != nil || err != nil {
		return res, refused, err
	}
	res.ActiveBefore = before
	res.ActiveAfter, err = t.holding(c.line)
	return res, nil, err
}

func (t *txn) place(c *claim) (res fact.AssertResult, refused *fact.Error, err error) {
	switch {
	case c.Confidence < t.req.Threshold:
		res, err = t.hold(c)
	case c.Policy == fact.Coexist:
		res, err = t.join(c)
	default:
		res, refused, err = t.lay(c)
	}
	return res, refused, err
}

// claim settles the times of an assert (C-12, C-28).
func (t *txn) claim(a *fact.Assert) (*claim, *fact.Error) {
	t.known = t.declared(a.KnownAt)
	c := &claim{Assert: a, start: a.ValidFrom, end: a.ValidUntil, dated: a.ValidFrom.Given(), now: t.versionKnown()}
	if !c.dated {
		c.start = c.now
	}
	if c.start >= c.end {
		return nil, fact.Invalid("valid_until", "must be later than valid_from")
	}
	c.line = t.l.line(lineKey{t.space, a.Subject, a.Predicate})
	return c, nil
}

// declared returns the time at which a row is declared to have been known, by
// itself or by its batch; or NoInstant.
func (t *txn) declared(own fact.Instant) fact.Instant {
	if !own.Given() && t.backing != nil {
		return t.backing.KnownAt
	}
	return own
}

// fresh makes the fact of a claim, holding one span.
func (t *txn) fresh(c *claim, s span, status fact.Status) fact.Fact {
	f := fact.Fact{
		ID: c.ID, Subject: c.Subject, Predicate: c.Predicate, Object: c.Object,
		ValidFrom: s.from, ValidUntil: s.until,
		StatedFrom: c.start, StatedUntil: c.end, Dated: c.dated,
		Confidence: c.Confidence, Source: c.Source, Properties: c.Properties,
		Policy: c.Policy, Transient: c.Transient, Status: status,
		DeclaredKnownAt: fact.NoInstant,
	}
	if t.known.Given() {
		f.DeclaredKnownAt, f.Batch = t.known, t.tx
	}
	return f
}

// hold stores a candidate (C-15): it closes nothing.
func (t *txn) hold(c *claim) (fact.AssertResult, error) {
	said, err := t.said(c)
	if err != nil {
		return fact.AssertResult{}, err
	}
	for _, r := range said {
		if r.f.Status == fact.Candidate && fact.SameConfidence(r.f.Confidence, c.Confidence) && c.repeats(&r.f) {
			return fact.AssertResult{Fact: r.f, Duplicate: true}, nil
		}
	}
	r := t.create(t.fresh(c, span{c.start, c.end}, fact.Candidate))
	t.tell(fact.OpAssert, r)
	return fact.AssertResult{Fact: r.f}, nil
}

// said returns the pieces of the statements with the claim's object and source;
// of a dated one, those with its stated start.
func (t *txn) said(c *claim) ([]*row, error) {
	from := fact.NoInstant
	if c.dated {
		from = c.start
	}
	return t.l.statements(c.line, c.Object, c.Source, from)
}

// repeats reports whether a piece says what the claim says: of a dated claim,
// the same stated interval; of an undated one, something that holds now.
func (c *claim) repeats(f *fact.Fact) bool {
	if c.dated {
		return f.StatedFrom == c.start && f.StatedUntil == c.end
	}
	return f.Holds(c.now)
}

// stands reports whether a piece belongs to a statement that was asserted as a
// fact, not as a candidate, and was not retracted.
func stands(f *fact.Fact) bool {
	return (f.Status == fact.Active || f.Status == fact.Superseded) && !f.Promoted
}

// join writes a fact beside the others (C-14, coexist).
func (t *txn) join(c *claim) (fact.AssertResult, error) {
	said, err := t.said(c)
	if err != nil {
		return fact.AssertResult{}, err
	}
	for _, r := range said {
		if stands(&r.f) && fact.SameConfidence(r.f.Confidence, c.Confidence) && c.repeats(&r.f) {
			return t.duplicate(c, r)
		}
	}
	r := t.create(t.fresh(c, span{c.start, c.end}, fact.Active))
	promoted, err := t.confirmed(c)
	if err != nil {
		return fact.AssertResult{}, err
	}
	for _, p := range promoted {
		t.promote(p, r)
	}
	t.tell(fact.OpAssert, r, promoted...)
	return fact.AssertResult{Fact: r.f, Superseded: factsOf(promoted)}, nil
}

// duplicate answers with the statement that stands already; of a dated one,
// with its first piece.
func (t *txn) duplicate(c *claim, r *row) (fact.AssertResult, error) {
	if c.dated && !r.f.Continues.IsZero() {
		first, err := t.l.find(t.space, r.f.Continues)
		if err != nil {
			return fact.AssertResult{}, err
		}
		if first != nil {
			r = first
		}
	}
	return fact.AssertResult{Fact: r.f, Duplicate: true}, nil
}

// lay is C-13: where the claim and a conflicting fact overlap, the one whose
// statement starts later holds.
func (t *txn) lay(c *claim) (fact.AssertResult, *fact.Error, error) {
	var none fact.AssertResult
	rows, err := t.l.overlapping(c.line, c.start, c.end)
	if err != nil {
		return none, nil, err
	}
	var foes, strong, weak []*row
	for _, r := range rows {
		if !c.conflicts(&r.f) {
			continue
		}
		foes = append(foes, r)
		if r.f.Dated && r.f.StatedFrom > c.start {
			strong = append(strong, r)
		} else {
			weak = append(weak, r)
		}
	}
	mine := minus([]span{{c.start, c.end}}, spansOf(strong))
	same, err := t.repeated(c, rows, mine)
	if err != nil {
		return none, nil, err
	}
	if same != nil {
		res, err := t.duplicate(c, same)
		return res, nil, err
	}
	if refused := t.refusal(c, foes); refused != nil {
		return none, refused, nil
	}
	res, err := t.carve(c, mine, weak, strong)
	return res, nil, err
}

// conflicts is C-12, of facts that overlap.
func (c *claim) conflicts(f *fact.Fact) bool {
	return !f.Object.Equal(c.Object) || fact.SameSource(f.Source, c.Source)
}

// repeated returns the fact that the claim only repeats (C-10), or nil.
func (t *txn) repeated(c *claim, rows []*row, mine []span) (*row, error) {
	if !c.dated {
		var own []*row
		for _, r := range rows {
			if r.f.Object.Equal(c.Object) && fact.SameSource(r.f.Source, c.Source) && fact.SameConfidence(r.f.Confidence, c.Confidence) {
				own = append(own, r)
			}
		}
		if len(own) == 0 || len(minus(mine, spansOf(own))) > 0 {
			return nil, nil
		}
		for _, r := range own {
			if r.f.Holds(c.start) {
				return r, nil
			}
		}
		return own[0], nil
	}
	if len(minus([]span{{c.start, c.end}}, spansOf(rows))) > 0 {
		return nil, nil // it fills time in which nothing holds
	}
	said, err := t.said(c)
	if err != nil {
		return nil, err
	}
	for _, r := range said {
		if stands(&r.f) && fact.SameConfidence(r.f.Confidence, c.Confidence) && c.repeats(&r.f) {
			return r, nil
		}
	}
	return nil, nil
}

// refusal is the Conflict of the reject policy (C-14), and of a declared row
// that would cut or be cut by a fact known later (C-28).
func (t *txn) refusal(c *claim, foes []*row) *fact.Error {
	var met []*fact.Fact
	for _, r := range foes {
		if c.Policy == fact.Reject || t.known.Given() && r.f.VersionKnownAt > t.known {
			met = append(met, &r.f)
		}
	}
	if c.Policy == fact.Reject {
		return conflict(met, "policy reject: %d conflicting fact(s) of the same subject and predicate")
	}
	return conflict(met, "declared to have been known before %d conflicting fact(s) that are there already (tell history in order, or with policy coexist)")
}

// conflict is the refusal that names the facts that were met; nil where there
// are none. The format takes their number.
func conflict(met []*fact.Fact, format string) *fact.Error {
	if len(met) == 0 {
		return nil
	}
	slices.SortFunc(met, compareNewest)
	e := &fact.Error{Code: fact.Conflict}
	for _, f := range met {
		e.IDs = append(e.IDs, f.ID)
	}
	e.Message = fmt.Sprintf(format, len(met)) + ": " + listIDs(e.IDs)
	return e
}

// listIDs names the first few ids; the error's field holds them all.
func listIDs(ids []fact.ID) string {
	const most = 10
	text := ""
	for i, id := range ids {
		if i == most {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += id.String()
	}
	return text
}

// carve writes the claim into the spans that are its own and cuts what has to
// give way.
func (t *txn) carve(c *claim, mine []span, weak, strong []*row) (fact.AssertResult, error) {
	own := make([]*row, 0, len(mine))
	for i, s := range mine {
		f := t.fresh(c, s, fact.Active)
		if i > 0 {
			t.pieces++
			f.ID, f.Continues = fact.ContinuationID(c.ID, t.tx, t.pieces), c.ID
		}
		if s.until != c.end {
			t.end(&f, startingAt(strong, s.until))
		}
		own = append(own, t.create(f))
	}
	candidates, err := t.confirmed(c)
	if err != nil {
		return fact.AssertResult{}, err
	}
	gives := append(weak, candidates...)
	sortRows(gives)
	var res fact.AssertResult
	var ended, moved, further []*row
	for _, r := range gives {
		switch {
		case r.f.Status == fact.Candidate:
			t.promote(r, own[0])
			ended = append(ended, r)
		case !untouched(r, mine):
			onlyMoved, more := t.cut(r, mine, own)
			if onlyMoved {
				moved = append(moved, r)
			} else {
				ended = append(ended, r)
			}
			further = append(further, more...)
		}
	}
	res.Superseded, res.Moved = factsOf(ended), factsOf(moved)
	res.Fact = own[0].f
	t.tell(fact.OpAssert, own[0], append(ended, moved...)...)
	for _, r := range append(own[1:], further...) {
		t.tell(fact.OpAssert, r)
		res.Continuations = append(res.Continuations, r.f)
	}
	return res, nil
}

// untouched reports whether a conflicting fact lies outside what the claim took:
// where the two overlap, a third one is stronger than both.
func untouched(r *row, mine []span) bool {
	whole := span{r.f.ValidFrom, r.f.ValidUntil}
	rest := minus([]span{whole}, mine)
	return len(rest) == 1 && rest[0] == whole
}

// startingAt returns the first of the rows that begins at an instant.
func startingAt(rows []*row, at fact.Instant) fact.ID {
	for _, r := range rows {
		if r.f.ValidFrom == at {
			return r.f.ID
		}
	}
	return fact.ID{}
}

// end marks a piece as ended by another fact: superseded if that has come, else
// when the sweep finds it due (C-13).
func (t *txn) end(f *fact.Fact, by fact.ID) {
	f.SupersededBy = by
	if f.ValidUntil <= t.now {
		f.Status, f.Pending = fact.Superseded, false
	} else {
		f.Status, f.Pending = fact.Active, true
	}
}

// cut takes the claim's spans out of a fact. It reports whether the fact lost
// only its beginning, and returns the further pieces that the cut left.
func (t *txn) cut(r *row, mine []span, own []*row) (moved bool, further []*row) {
	before := r.f
	rest := minus([]span{{before.ValidFrom, before.ValidUntil}}, mine)
	f := t.touch(r)
	if len(rest) == 0 {
		f.ValidUntil = f.ValidFrom
		f.Status, f.Pending = fact.Superseded, false
		f.SupersededBy = holderAt(own, before.ValidFrom)
		return false, nil
	}
	f.ValidFrom, f.ValidUntil = rest[0].from, rest[0].until
	if f.ValidUntil != before.ValidUntil {
		t.end(f, startingAt(own, f.ValidUntil))
	} else {
		moved = true
	}
	for _, s := range rest[1:] {
		t.pieces++
		piece := before
		piece.ID = fact.ContinuationID(before.ID, t.tx, t.pieces)
		piece.Continues = before.Statement()
		piece.ValidFrom, piece.ValidUntil = s.from, s.until
		if s.until != before.ValidUntil {
			t.end(&piece, startingAt(own, s.until))
		}
		further = append(further, t.create(piece))
	}
	return moved, further
}

// holderAt returns the piece that holds at an instant.
func holderAt(own []*row, at fact.Instant) fact.ID {
	for _, r := range own {
		if r.f.Holds(at) {
			return r.f.ID
		}
	}
	return own[0].f.ID
}

// confirmed returns the candidates that the claim confirms (C-15).
func (t *txn) confirmed(c *claim) ([]*row, error) {
	rows, err := t.l.candidates(c.line)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r *row) bool {
		// What was known only after the claim was is no earlier word of it (C-28).
		return !r.f.Object.Equal(c.Object) || r.f.ValidFrom >= c.end || r.f.ValidUntil <= c.start ||
			r.f.VersionKnownAt > t.versionKnown()
	}), nil
}

// promote closes a candidate that a new fact confirms, and leaves it no time.
func (t *txn) promote(r, by *row) {
	f := t.touch(r)
	f.Status, f.Promoted = fact.Superseded, true
	f.ValidUntil = f.ValidFrom
	f.SupersededBy = by.f.ID
}

// holding counts the facts of a timeline that hold at the record time.
func (t *txn) holding(line *line) (int, error) {
	rows, err := t.l.overlapping(line, t.now, t.now+1)
	n := 0
	for _, r := range rows {
		if r.f.Status == fact.Active {
			n++
		}
	}
	return n, err
}

func spansOf(rows []*row) []span {
	spans := make([]span, len(rows))
	for i, r := range rows {
		spans[i] = span{r.f.ValidFrom, r.f.ValidUntil}
	}
	return spans
}

func factsOf(rows []*row) []fact.Fact {
	if len(rows) == 0 {
		return nil
	}
	facts := make([]fact.Fact, len(rows))
	for i, r := range rows {
		facts[i] = r.f
	}
	return facts
}
