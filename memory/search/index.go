package search

import (
	"slices"
	"sync"
	"sync/atomic"

	"abagraph/fact"
)

// windowBits is the size of a window: as many documents in a row as are scored,
// or skipped, together.
const (
	windowBits = 9
	windowSize = 1 << windowBits
)

// Index is an inverted index of the facts of one tenant's branch, each piece of
// each statement a document. It is safe for concurrent use: many search while
// one follows the store.
//
// Documents lie in the order of the tx that made them, the newest last, and those
// of one tx by descending id. What the corpus was at a tx is therefore a
// beginning of every list, and equal scores are won by the later document.
type Index struct {
	scope fact.Scope
	// turn is held by the one who brings the index up to date.
	turn chan struct{}

	// mu guards all of the following.
	mu    sync.RWMutex
	epoch string
	tx    uint64 // through which events were followed
	purge uint64 // the last purge that was carried out here
	// On a branch the facts that it inherits expire where they lie, which no event
	// of the branch tells: lapse is the last sweep that was looked at, mortal the
	// facts that may expire.
	lapse  uint64
	mortal map[fact.ID]bool
	built  bool

	docs       []doc
	ids        []fact.ID
	lengths    []uint32
	sums       []uint64       // total length of the windows before each window
	knowns     []fact.Instant // when the first version was known
	ranges     []span         // of knowns, by window
	calm       []calm         // by window
	runs       []runs         // by predicate
	past       []pastVersion
	byID       map[fact.ID]uint32
	continues  map[fact.ID]fact.ID // continuation → the first piece of its statement
	dense      *dense              // nil until vectors are asked for
	noRoom     fact.Model          // whose vectors do not fit
	reading    chan struct{}       // closed when the reading of vectors ends that goes on without a search; nil = none
	terms      lexicon
	subjects   lexicon
	predicates lexicon
	sessions   lexicon
	spoken     []spoken // by document; nil where none is of a session
	cutter     tokenizer
	counting   counter
	bytes      int64

	denseBytes atomic.Int64
	filled     atomic.Int32 // percent of a build under way
	closely    closely
	scratch    sync.Pool // of *columns
}

// doc is what filters ask of a document: its current version. It fills a line of
// the processor's cache.
type doc struct {
	tx         uint64
	known      fact.Instant
	from       fact.Instant
	until      fact.Instant
	confidence float64
	firstTx    uint64
	subject    uint32
	predicate  uint32
	prev       int32 // the version before, in past; -1 = none
	status     fact.Status
}

// pastVersion is what a document was before another tx changed it.
type pastVersion struct {
	tx          uint64
	known       fact.Instant
	from, until fact.Instant
	prev        int32
	status      fact.Status
}

// span is the least and the greatest of some instants.
type span struct{ least, greatest fact.Instant }

// newIndex makes an empty index.
func newIndex(scope fact.Scope) *Index {
	x := &Index{scope: scope, turn: make(chan struct{}, 1), closely: closely{ExactCandidates, lookClosely, lookPerHit}}
	x.reset()
	return x
}

// reset forgets everything.
func (x *Index) reset() {
	x.epoch, x.tx, x.purge, x.lapse, x.built = "", 0, 0, 0, false
	x.mortal = make(map[fact.ID]bool)
	x.docs, x.ids, x.lengths, x.sums, x.knowns, x.ranges, x.calm, x.runs, x.past = nil, nil, nil, nil, nil, nil, nil, nil, nil
	x.byID, x.continues, x.dense = make(map[fact.ID]uint32), make(map[fact.ID]fact.ID), nil
	x.noRoom = fact.Model{}
	x.denseBytes.Store(0)
	x.terms, x.subjects, x.predicates = newLexicon(true), newLexicon(false), newLexicon(false)
	x.sessions, x.spoken = newLexicon(false), nil
	x.counting = counter{}
	x.cutter = tokenizer{emit: func(t token) { x.counting.add(x.terms.number(t.term)) }}
	x.bytes = 0
}

// docBytes is about what a document costs beside its terms.
const docBytes = 64 + 16 + 4 + 8 + 2*4 + 48

// add appends a document that has not been there, in its present version.
func (x *Index) add(f *fact.Fact) {
	ord := uint32(len(x.docs))
	x.grow(1)
	if ord%windowSize == 0 {
		sum := uint64(0)
		if ord > 0 {
			sum = x.sums[len(x.sums)-1] + x.windowLength(len(x.sums)-1)
		}
		x.sums = append(x.sums, sum)
		x.ranges = append(x.ranges, nothing)
	}
	x.put(ord, f, f.VersionKnownAt)
	x.ranges[ord>>windowBits].include(f.VersionKnownAt)
	x.noteCalm(ord)
	for _, c := range x.counting.list {
		x.terms.lists[c.term].divide(x.lengths)
	}
}

// nothing is a span without any instant.
var nothing = span{fact.Forever, fact.NoInstant}

// grow makes room for more documents.
func (x *Index) grow(n int) {
	n += len(x.docs)
	x.docs, x.ids = slices.Grow(x.docs, n-len(x.docs))[:n], slices.Grow(x.ids, n-len(x.ids))[:n]
	x.lengths, x.knowns = slices.Grow(x.lengths, n-len(x.lengths))[:n], slices.Grow(x.knowns, n-len(x.knowns))[:n]
	x.growSpoken()
}

// put fills in a document, which was first known at an instant, in its present
// version.
func (x *Index) put(ord uint32, f *fact.Fact, known fact.Instant) {
	x.counting.begin(len(x.terms.lists))
	eachField(f, func(text string, weight int) {
		x.counting.weight = weight
		x.cutter.text(text)
	})
	length := uint32(x.counting.length)
	x.docs[ord] = doc{
		tx: f.Tx, known: f.VersionKnownAt, from: f.ValidFrom, until: f.ValidUntil, confidence: f.Confidence, firstTx: f.FirstTx,
		subject: x.subjects.number([]byte(f.Subject)), predicate: x.predicates.number([]byte(f.Predicate)), prev: -1, status: f.Status,
	}
	x.ids[ord], x.lengths[ord], x.knowns[ord], x.byID[f.ID] = f.ID, length, known, ord
	x.noteSpoken(ord, f)
	if !f.Continues.IsZero() {
		x.continues[f.ID] = f.Continues
		x.bytes += 2 * rowBytes
	}
	if x.scope.Branch != fact.MainBranch && f.Transient && f.StatedUntil != fact.Forever {
		x.mortal[f.ID] = true
		x.bytes += 2 * rowBytes
	}
	d := &x.docs[ord]
	x.subjects.lists[d.subject].add(ord, 1, 0)
	x.predicates.lists[d.predicate].add(ord, 1, 0)
	for _, c := range x.counting.list {
		x.terms.lists[c.term].add(ord, c.count(), length)
	}
	x.bytes += docBytes + 5*int64(len(x.counting.list))
}

func (s *span) include(t fact.Instant) {
	s.least, s.greatest = min(s.least, t), max(s.greatest, t)
}

// windowLength sums the lengths of a window's documents.
func (x *Index) windowLength(window int) uint64 {
	sum := uint64(0)
	for _, n := range x.lengths[window<<windowBits : min(len(x.lengths), (window+1)<<windowBits)] {
		sum += uint64(n)
	}
	return sum
}

// change adds a version of a document, later than the one that it has.
func (x *Index) change(ord uint32, f *fact.Fact) {
	d := &x.docs[ord]
	if f.Tx <= d.tx {
		return
	}
	x.past = append(x.past, pastVersion{tx: d.tx, known: d.known, from: d.from, until: d.until, prev: d.prev, status: d.status})
	d.prev = int32(len(x.past) - 1)
	x.disturb(ord)
	d.tx, d.known, d.from, d.until, d.status = f.Tx, f.VersionKnownAt, f.ValidFrom, f.ValidUntil, f.Status
	x.bytes += 48
}

// size is about how many bytes the index takes.
func (x *Index) size() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bytes + x.terms.bytes + x.subjects.bytes + x.predicates.bytes + x.sessions.bytes + x.denseBytes.Load()
}

// lexicon numbers strings, each with the list of documents that have it.
type lexicon struct {
	numbers map[string]uint32
	names   []string
	lists   []postings
	free    []uint32 // numbers of strings that no document has any more
	bytes   int64
	windows bool // whether the lists tell of their windows
}

func newLexicon(windows bool) lexicon {
	return lexicon{numbers: make(map[string]uint32), windows: windows}
}

// number returns the number of a string, a new one where it has none.
func (l *lexicon) number(name []byte) uint32 {
	if n, ok := l.numbers[string(name)]; ok {
		return n
	}
	text := string(name)
	l.bytes += int64(len(text)) + 144
	if last := len(l.free) - 1; last >= 0 {
		n := l.free[last]
		l.free = l.free[:last]
		l.names[n], l.numbers[text] = text, n
		return n
	}
	n := uint32(len(l.lists))
	l.names, l.lists = append(l.names, text), append(l.lists, postings{windowed: l.windows})
	l.numbers[text] = n
	return n
}

// find returns the list of a string; nil where no document has it.
func (l *lexicon) find(name string) *postings {
	n, ok := l.numbers[name]
	if !ok {
		return nil
	}
	return &l.lists[n]
}

// forget takes a string off that no document has any more.
func (l *lexicon) forget(n uint32) {
	l.bytes -= int64(len(l.names[n])) + 144
	delete(l.numbers, l.names[n])
	l.names[n] = ""
	l.lists[n] = postings{windowed: l.windows}
	l.free = append(l.free, n)
}

// counter counts the terms of one document.
type counter struct {
	list   []counted
	at     []int32 // by term: 1 + its place in list, where mark says so
	mark   []uint32
	round  uint32
	weight int
	length int
}

type counted struct {
	term uint32
	n    int
}

// count is the frequency of a term, in so far as it is kept.
func (c counted) count() uint8 { return uint8(min(c.n, 255)) }

// begin starts another document.
func (c *counter) begin(terms int) {
	c.list, c.length = c.list[:0], 0
	if c.round++; c.round == 0 {
		clear(c.mark)
		c.round = 1
	}
	c.grow(terms)
}

func (c *counter) grow(terms int) {
	if terms > len(c.mark) {
		c.mark = slices.Grow(c.mark, terms-len(c.mark))
		c.mark = c.mark[:cap(c.mark)]
		c.at = slices.Grow(c.at, len(c.mark)-len(c.at))
		c.at = c.at[:len(c.mark)]
	}
}

func (c *counter) add(term uint32) {
	c.length += c.weight
	c.grow(int(term) + 1)
	if c.mark[term] == c.round {
		c.list[c.at[term]].n += c.weight
		return
	}
	c.mark[term], c.at[term] = c.round, int32(len(c.list))
	c.list = append(c.list, counted{term, c.weight})
}
