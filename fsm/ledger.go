package fsm

import (
	"hash"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// ledger is the working set of one Apply call: the store as it was before the
// call, the rows that the call has read or changed, and what it will write. It
// is flushed into one Pebble batch at the end; a request that is refused is
// undone before the next one is looked at.
type ledger struct {
	m     *Machine
	base  pebble.Reader // the store before this call
	iter  iterator
	batch *pebble.Batch
	state state

	rows   map[fact.ID]*row // every row that was changed in this call on a main branch
	forks  map[forkKey]*row // those on other branches: one id may lie on several
	order  []*row           // both, in the order of their first change
	lines  map[lineKey]*line
	events []pendingEvent
	audits []auditPlace

	known    map[space]*spaceMemo
	spaces   []*spaceMemo
	outcomes map[space]*outcomeMemo
	outOrder []*outcomeMemo
	dropped  map[outcomeKey]bool
	registry map[string][]byte // registry keys written in this call; nil = deleted
	regOrder []string
	emptied  []lineKey // subjects that lost rows for good; predicate is unused
	vectors  vectorMemo
	blobs    blobMemo
	purged   bool
	policy   bool // a fact of a policy was changed
	late     bool // there was a request of another kind than a write
	told     int  // the weight of the facts in the events of this call

	buf, tail []byte // for the keys and values that are built
	encodings []byte // the bytes of rows, one after another
	hasher    hash.Hash
	slab      []row                  // the rows that were made last
	branches  map[space]*fact.Branch // what the call knows of branches
	forkNames map[string][]string    // the branches of a tenant
	times     []fact.Instant         // the record time of each tx of this call
	digests   [][32]byte             // and the digest at each
}

// row is one fact that this call changes.
type row struct {
	space space
	f     fact.Fact
	bytes []byte     // the encoding of f, once it is needed
	hash  objectHash // of f's object, once it is needed
	orig  *fact.Fact // as it lies in the store; nil = not there
	past  []*fact.Fact
	ends  []versionEnd // when each of past ended
	gone  bool         // deleted, or never made because its request was refused
	// purged marks a deleted row of which not even events remain.
	purged bool
	// inherited marks a row of a branch that was its parent's until this call;
	// forked is the tx that made it the branch's own, once the row is gone.
	inherited bool
	forked    uint64
}

// versionEnd is the tx and the times at which a version was replaced.
type versionEnd struct {
	tx        uint64
	at, known fact.Instant
}

// lineKey names a timeline.
type lineKey struct {
	space              space
	subject, predicate string
}

// line is a timeline, as far as this call knows it.
type line struct {
	key     lineKey
	changed []*row
	loaded  bool // active holds every active row of the store
	long    bool // the store has more active rows than are held
	active  []fact.Fact
	// closedBy bounds the superseded rows of the store: none ends after it.
	// Forever = not known.
	closedBy fact.Instant
	fresh    bool // the store has no row of this subject at all
	certain  bool // the store has no candidate of this timeline
	// buckets are those of the store's superseded rows, where bucketed is set.
	buckets  uint16
	bucketed bool
}

func (m *Machine) newLedger() *ledger {
	u := &m.used
	return &ledger{
		m: m, base: m.db, batch: m.db.NewBatch(), state: m.state,
		rows: emptied(u.rows), forks: make(map[forkKey]*row), lines: emptied(u.lines), known: emptied(u.known),
		outcomes: make(map[space]*outcomeMemo), dropped: make(map[outcomeKey]bool), registry: make(map[string][]byte),
		order: u.order, events: u.events, audits: u.audits, spaces: u.spaces, slab: u.slab, buf: u.buf, tail: u.tail, encodings: u.encodings, hasher: u.hasher,
	}
}

// maxUsed and maxUsedBytes bound what is left to the next call.
const (
	maxUsed      = 1024
	maxUsedBytes = 1 << 20
)

// leave hands the call's memory on to the next one.
func (l *ledger) leave() {
	u := &l.m.used
	*u = ledger{rows: l.rows, lines: l.lines, known: l.known, hasher: l.hasher}
	if len(l.order) <= maxUsed && len(l.events) <= maxUsed && len(l.spaces) <= maxUsed && cap(l.tail) <= 1<<16 {
		clear(l.order)
		clear(l.events)
		clear(l.spaces)
		clear(l.audits)
		u.order, u.events, u.audits, u.spaces = l.order[:0], l.events[:0], l.audits[:0], l.spaces[:0]
		u.buf, u.tail = l.buf[:0], l.tail[:0]
	}
	if cap(l.encodings) <= maxUsedBytes {
		u.encodings = l.encodings[:0]
	}
	clear(l.slab)
	u.slab = l.slab[:0]
}

func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > maxUsed {
		return make(map[K]V)
	}
	clear(m)
	return m
}

// slabRows is how many rows are made at once.
const slabRows = 64

// newRow makes a row of the call's own memory: nothing that outlives the call may
// hold it.
func (l *ledger) newRow(s space, f *fact.Fact, orig *fact.Fact) *row {
	if len(l.slab) == cap(l.slab) {
		l.slab = make([]row, 0, slabRows)
	}
	l.slab = l.slab[:len(l.slab)+1]
	r := &l.slab[len(l.slab)-1]
	r.space, r.f, r.orig = s, *f, orig
	return r
}

func (l *ledger) close() error {
	var err error
	if l.iter.open() {
		err = l.iter.Close()
	}
	if cerr := l.batch.Close(); err == nil {
		err = cerr
	}
	return err
}

// seek returns the call's one iterator, bounded to a range.
func (l *ledger) seek(lower, upper []byte) (iterator, error) {
	if !l.iter.open() {
		it, err := openIter(l.base, lower, upper)
		if err != nil {
			return it, err
		}
		l.iter = it
		return it, nil
	}
	l.iter.SetBounds(lower, upper)
	return l.iter, nil
}

// line returns the memo of a timeline.
func (l *ledger) line(k lineKey) *line {
	t := l.lines[k]
	if t == nil {
		t = &line{key: k, closedBy: fact.Forever}
		l.lines[k] = t
	}
	return t
}

// load makes sure that a timeline's active rows are known.
func (l *ledger) load(t *line) error {
	if t.loaded || t.long {
		return nil
	}
	if hot, ok := l.m.hot.get(t.key); ok {
		t.active, t.closedBy, t.certain = hot.active, hot.closedBy, hot.certain
		t.loaded, t.long = !hot.long, hot.long
		t.buckets, t.bucketed = hot.buckets, hot.bucketed
		memo, err := l.space(t.key.space)
		if err == nil {
			memo.subjects[t.key.subject] = true // it has a row, so it is no new subject
		}
		return err
	}
	exists, err := l.subjectExists(t.key.space, t.key.subject)
	if err != nil {
		return err
	}
	if !exists {
		t.loaded, t.fresh, t.certain, t.closedBy, t.bucketed = true, true, true, fact.NoInstant, true
		return nil
	}
	prefix := t.key.space.line(t.key.subject, t.key.predicate, fact.Active)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		f, err := rowValue(it)
		if err != nil {
			return err
		}
		t.active = append(t.active, f)
		if len(t.active) > maxHotRows {
			t.active, t.long = nil, true // overlapping scans the store instead
			return nil
		}
	}
	if err := it.Error(); err != nil {
		return storageError("read a timeline", err)
	}
	t.loaded = true
	return nil
}

// subjectExists reports whether the store had a row of the subject before this
// call.
func (l *ledger) subjectExists(s space, subject string) (bool, error) {
	memo, err := l.space(s)
	if err != nil {
		return false, err
	}
	if known, ok := memo.subjects[subject]; ok {
		return known, nil
	}
	there, err := has(l.base, s.marker(subject))
	if err == nil {
		memo.subjects[subject] = there
	}
	return there, err
}

// rowValue decodes the fact that an iterator stands on.
func rowValue(it iterator) (fact.Fact, error) {
	v, err := it.ValueAndErr()
	if err != nil {
		return fact.Fact{}, storageError("read a row", err)
	}
	f, err := entry.DecodeFact(v)
	if err != nil {
		return f, fact.Errorf(fact.StorageCorruption, "a row cannot be read: %v", err)
	}
	return f, nil
}

// overlapping returns the rows of a timeline, active or superseded, whose time
// overlaps [from, until), ordered by (valid_from, id).
func (l *ledger) overlapping(t *line, from, until fact.Instant) ([]*row, error) {
	if err := l.load(t); err != nil {
		return nil, err
	}
	var found []*row
	weight := 0
	take := func(f *fact.Fact) error {
		if l.changed(t.key.space, f.ID) != nil || f.ValidFrom >= until || f.ValidUntil <= from || f.ValidFrom >= f.ValidUntil {
			return nil
		}
		if weight += f.Weight(); weight > fact.MaxTxBytes {
			return errTooHeavy
		}
		found = append(found, l.newRow(t.key.space, f, f))
		return nil
	}
	if t.loaded {
		for i := range t.active {
			if err := take(&t.active[i]); err != nil {
				return nil, err
			}
		}
	} else if err := l.scan(t, fact.Active, from, until, take); err != nil {
		return nil, err
	}
	if t.closedBy > from {
		latest := from
		err := l.scan(t, fact.Superseded, from, until, func(f *fact.Fact) error {
			latest = max(latest, f.ValidUntil)
			return take(f)
		})
		if err != nil {
			return nil, err
		}
		if until == fact.Forever {
			t.closedBy = latest
		}
	}
	for _, r := range t.changed {
		if !r.gone && (r.f.Status == fact.Active || r.f.Status == fact.Superseded) &&
			r.f.ValidFrom < until && r.f.ValidUntil > from && r.f.ValidFrom < r.f.ValidUntil {
			found = append(found, r)
		}
	}
	if t.key.space.branch != fact.MainBranch {
		var err error
		if found, err = l.inheritSpan(t, found, from, until); err != nil {
			return nil, err
		}
	}
	if weightOf(found) > fact.MaxTxBytes {
		return nil, errTooHeavy
	}
	sortRows(found)
	return found, nil
}

// scan visits the store's rows of one status that overlap [from, until).
func (l *ledger) scan(t *line, status fact.Status, from, until fact.Instant, visit func(*fact.Fact) error) error {
	prefix := t.key.space.line(t.key.subject, t.key.predicate, status)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	return scanWindow(it, from, until, func() error {
		f, err := rowValue(it)
		if err != nil {
			return err
		}
		return visit(&f)
	})
}

// statements returns the pieces of the statements with this object and source;
// with dated, only of those that were stated to start at from.
func (l *ledger) statements(t *line, object fact.Object, source *string, from fact.Instant) ([]*row, error) {
	var found []*row
	if err := l.load(t); err != nil {
		return nil, err
	}
	if !t.fresh {
		prefix := t.key.space.statements(t.key.subject, t.key.predicate, object, source)
		if from.Given() {
			prefix = appendTime(prefix, from)
		}
		ids, err := l.idsUnder(prefix)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if l.changed(t.key.space, id) != nil {
				continue
			}
			f, err := readFact(l.base, t.key.space, id)
			if err != nil {
				return nil, err
			}
			if f != nil {
				found = append(found, l.newRow(t.key.space, f, f))
			}
		}
	}
	for _, r := range t.changed {
		if !r.gone && (!from.Given() || r.f.StatedFrom == from) {
			found = append(found, r)
		}
	}
	if t.key.space.branch != fact.MainBranch {
		var err error
		if found, err = l.inheritStatements(t, found, object, source, from); err != nil {
			return nil, err
		}
	}
	same := found[:0]
	for _, r := range found {
		// The index keeps hashes; the objects decide.
		if r.f.Object.Equal(object) && fact.SameSource(r.f.Source, source) {
			same = append(same, r)
		}
	}
	sortRows(same)
	return same, nil
}

// candidates returns the candidates of a timeline, ordered by (valid_from, id).
func (l *ledger) candidates(t *line) ([]*row, error) {
	if err := l.load(t); err != nil {
		return nil, err
	}
	var found []*row
	if !t.certain {
		none, weight := true, 0
		err := l.scan(t, fact.Candidate, fact.NoInstant, fact.Forever, func(f *fact.Fact) error {
			none = false
			if weight += f.Weight(); weight > fact.MaxTxBytes {
				return errTooHeavy
			}
			if l.changed(t.key.space, f.ID) == nil {
				found = append(found, l.newRow(t.key.space, f, f))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		t.certain = none
	}
	for _, r := range t.changed {
		if !r.gone && r.f.Status == fact.Candidate {
			found = append(found, r)
		}
	}
	if t.key.space.branch != fact.MainBranch {
		var err error
		if found, err = l.inheritCandidates(t, found); err != nil {
			return nil, err
		}
	}
	sortRows(found)
	return found, nil
}

// idsUnder returns the ids that end the keys of a range.
func (l *ledger) idsUnder(prefix []byte) ([]fact.ID, error) {
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return nil, err
	}
	var ids []fact.ID
	for ok := it.First(); ok; ok = it.Next() {
		ids = append(ids, idAtEnd(it.Key()))
	}
	if err := it.Error(); err != nil {
		return nil, storageError("read an index", err)
	}
	return ids, nil
}

// find returns the row of an id, or nil.
func (l *ledger) find(s space, id fact.ID) (*row, error) {
	if r := l.changed(s, id); r != nil {
		if r.gone || r.space != s {
			return nil, nil
		}
		return r, nil
	}
	f, err := readFact(l.base, s, id)
	if err == nil && f == nil && s.branch != fact.MainBranch {
		return l.inheritFact(s, id)
	}
	if err != nil || f == nil {
		return nil, err
	}
	return l.newRow(s, f, f), nil
}

// readFact reads the current row of an id; nil when there is none.
func readFact(r pebble.Reader, s space, id fact.ID) (*fact.Fact, error) {
	tail, err := get(r, s.id(id))
	if err != nil || tail == nil {
		return nil, err
	}
	v, err := get(r, s.rowFromTail(tail))
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, fact.Errorf(fact.StorageCorruption, "fact %s has an id but no row", id)
	}
	f, err := entry.DecodeFact(v)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "fact %s cannot be read: %v", id, err)
	}
	return &f, nil
}

// adopt registers a row as changed by this call.
func (l *ledger) adopt(r *row) {
	if l.changed(r.space, r.f.ID) == r {
		return
	}
	if r.space.branch == fact.MainBranch {
		l.rows[r.f.ID] = r
	} else {
		l.forks[forkKey{r.space, r.f.ID}] = r
	}
	l.order = append(l.order, r)
	t := l.line(lineKey{r.space, r.f.Subject, r.f.Predicate})
	t.changed = append(t.changed, r)
}
