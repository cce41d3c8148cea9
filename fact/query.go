package fact

// Limits of lists (C-24).
const (
	DefaultLimit = 200
	MaxLimit     = 10_000
)

// Scope says whose facts a read may see: one tenant, or all of them (an admin
// who names no tenant, C-40).
type Scope struct {
	Tenant string // "" = ownerless, unless All
	All    bool
	Branch string
}

// At selects the state that a read answers from (C-20 to C-22). The zero value
// with all times set to NoInstant, made by Present, is the present.
type At struct {
	// Now is the instant that "live" means: the leader's clock handed out with
	// the read index, never earlier than the newest record time. A read of the
	// past (Tx or KnownAt) replaces it by the record time that it names.
	Now Instant
	// AsOf is the valid time asked for, or NoInstant.
	AsOf Instant
	// Tx reads the store as it stood at this tx where Pinned is set.
	Tx     uint64
	Pinned bool
	// KnownAt reads what was known at this time, declared rows included unless
	// NoBackfill; or NoInstant.
	KnownAt    Instant
	NoBackfill bool
}

// Present reads what holds now.
func Present(now Instant) At { return At{Now: now, AsOf: NoInstant, KnownAt: NoInstant} }

// Past reports whether the read goes back on the axis of record time.
func (at At) Past() bool { return at.Pinned || at.KnownAt.Given() }

// Query selects facts. Empty and nil fields select everything.
type Query struct {
	Scope     Scope
	Subject   string
	Predicate string
	// Objects are the values that a filter may mean: object=42 is the text and
	// the number (C-3). Empty = any.
	Objects []Object
	// Predicates selects facts of any of them. It picks no index, as Predicate
	// does: what another index gives is filtered.
	Predicates []string
	// Statuses filters by status alone where StatusGiven is set; otherwise the
	// default of the kind of read applies (C-20, C-21).
	Statuses         StatusSet
	StatusGiven      bool
	IncludeRetracted bool
	At               At
	// TxGt lists rows whose last tx is greater, oldest first, where TxGtGiven
	// is set; a page ends between two tx (C-24).
	TxGt      uint64
	TxGtGiven bool
	Limit     int // 0 = DefaultLimit
	// Sight leaves out what the reader may not see; nil = nothing.
	Sight *Sight
}

// Page is the answer to a Query, in the fixed order of lists (C-25).
type Page struct {
	Facts []Fact
	Scan  Scan
	// Backfilled counts the rows that are there because of a declaration, by
	// the batch that declared them (C-28), in the order of batches.
	Backfilled []BatchCount
}

// BatchCount counts the rows of one declared batch in an answer.
type BatchCount struct {
	Batch uint64 // the batch's tx
	Rows  int
}

// Scan tells how a read went, for explain=1 (C-27).
type Scan struct {
	Index    string // by_subject, by_predicate, by_object or full_scan
	Scanned  int    // rows taken from the index before filtering
	LimitHit bool   // there is more than the answer holds
	// Heavy tells that the answer ended early by its weight, MaxAnswerBytes,
	// and not by its limit.
	Heavy bool
}

// Statement is one fact with the pieces of its statement (C-16).
type Statement struct {
	Fact   Fact
	Pieces []Fact // by valid_from
	// Cut tells that there are more pieces than an answer holds.
	Cut bool
}

// History is the life of one statement and of its subject and predicate (C-58).
// Each list holds its first rows, and tells by Cut where there are more.
type History struct {
	Fact        Fact
	Pieces      []Fact // the pieces of the statement, by valid_from
	Versions    []Fact // the versions of its pieces, oldest tx first
	Timeline    []Fact // the facts of the subject and predicate, by valid_from, then id
	PiecesCut   bool
	VersionsCut bool
	TimelineCut bool
}

// EntityQuery lists subjects in the order of their bytes.
type EntityQuery struct {
	Scope Scope
	After string // list those greater than this one
	Limit int    // 0 = DefaultLimit
	At    At
}

// Entity is a subject with the number of its facts that hold.
type Entity struct {
	ID        string
	FactCount int
}

// SubjectQuery visits subjects one after another, each with what several queries
// select of it: several points in time side by side, say.
type SubjectQuery struct {
	Scope Scope
	// Subject visits this one alone; "" = all.
	Subject string
	// After is the place to go on from; its zero value is the beginning.
	After SubjectPlace
	// Queries say what is wanted. Their scope, subject, cursor and limit are
	// not looked at.
	Queries []Query
}

// SubjectPlace is a place in the order of tenants and of their subjects.
type SubjectPlace struct {
	Tenant  string
	Subject string
}

// SubjectFacts is one subject of one tenant with the facts that each query
// selects, in the order of lists.
type SubjectFacts struct {
	SubjectPlace
	Lists   [][]Fact
	Scanned int // rows that were looked at, for explain=1
}

// Stats counts facts by status (C-24 and the documents).
type Stats struct {
	Active     uint64
	Candidate  uint64
	Superseded uint64
	Retracted  uint64
	Entities   uint64
	Predicates uint64
	Tenants    uint64
}

// Total sums all statuses.
func (s Stats) Total() uint64 { return s.Active + s.Candidate + s.Superseded + s.Retracted }

// Op is what an event of the stream tells (C-33).
type Op uint8

// The ops: a fact was asserted (or continued), retracted, superseded because a
// close became due, or deleted because it was transient and expired.
const (
	OpAssert Op = iota + 1
	OpRetract
	OpSupersede
	OpExpire
)

var opNames = [...]string{OpAssert: "assert", OpRetract: "retract", OpSupersede: "supersede", OpExpire: "expire"}

// String returns the word that the stream sends.
func (o Op) String() string {
	if int(o) < len(opNames) && o > 0 {
		return opNames[o]
	}
	return ""
}

// ParseOp reads an op.
func ParseOp(field, text string) (Op, error) {
	for o := OpAssert; o <= OpExpire; o++ {
		if text == opNames[o] {
			return o, nil
		}
	}
	return 0, Invalid(field, "has no such value: "+quote(text)+" (assert, retract, supersede or expire)")
}

// Event is one change, as it was at its tx.
type Event struct {
	Op         Op
	Tx         uint64
	Fact       Fact
	Superseded []Fact // what an assert closed or moved, after it
}

// Weight returns about how many bytes the event's JSON has.
func (e *Event) Weight() int {
	n := e.Fact.Weight()
	for i := range e.Superseded {
		n += e.Superseded[i].Weight()
	}
	return n
}

// EventQuery replays the events after a tx.
type EventQuery struct {
	Scope Scope
	After uint64
	// Skip is the place to go on from in the tx after After, where a page ended
	// within it.
	Skip uint64
	// Limit ends the page after the tx that reaches it.
	Limit int
}

// EventPage is the answer to an EventQuery. Through is the last tx that was
// looked at to its end: the cursor to go on from, whoever wrote it. A page that
// has become heavy ends within the next tx, and Skip is the place it came to.
type EventPage struct {
	Events  []Event
	Through uint64
	Skip    uint64
}

// Position is where a node's state machine stands.
type Position struct {
	Index      uint64 // last applied log index
	Term       uint64
	Tx         uint64
	RecordedAt Instant // the log's own clock: no record time is later (C-23)
	Epoch      string  // changes when a backup is restored (C-35)
	Digest     [32]byte
	Purge      uint64 // the tx of the last purge; 0 = none
	Expiry     uint64 // the tx of the last sweep that deleted a fact; 0 = none
}

// Level is how fresh a read must be (C-26).
type Level uint8

// The levels: the default reads everything that was acknowledged before the
// read began; Stale reads what this node has.
const (
	Linearizable Level = iota
	Stale
)

// Basis is what a read may rely on: the state machine of this node has applied
// at least Tx, and Now is the instant that live means.
type Basis struct {
	Now Instant
	Tx  uint64
}
