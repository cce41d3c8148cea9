package fact

// Fact is one piece of a statement, as it was at one tx. Facts are values:
// nothing that holds one may change it (C-18).
//
// A statement is what was said once: the fact that was asserted and, where
// another fact has cut it, its continuations (C-13).
type Fact struct {
	ID        ID
	Tenant    string // "" is the ownerless scope of an admin (C-40)
	Branch    string // MainBranch or a branch overlay
	Subject   string
	Predicate string
	Object    Object

	// The time that this piece holds: [ValidFrom, ValidUntil).
	ValidFrom  Instant
	ValidUntil Instant // Forever = open
	// What the statement said, which never changes. Dated tells whether its
	// writer gave valid_from.
	StatedFrom  Instant
	StatedUntil Instant
	Dated       bool

	Confidence float64
	Source     *string
	Properties []byte // JSON object, as it was written; nil = none
	Policy     Policy
	Transient  bool
	Status     Status

	// RecordedAt is when the statement's piece was first recorded, by the
	// leader's clock; it never runs backwards (C-23).
	RecordedAt Instant
	// DeclaredKnownAt is when the data was declared to have been known before
	// it was recorded (C-28), or NoInstant.
	DeclaredKnownAt Instant
	// Batch is the tx of the backfill batch that declared it, or 0.
	Batch uint64

	// Continues is the first piece's id, in a continuation (C-13).
	Continues ID
	// SupersededBy is who ended this piece.
	SupersededBy ID

	// Tx is the last tx that touched the fact; FirstTx the one that made it.
	Tx      uint64
	FirstTx uint64
	// VersionAt is the record time of Tx, and VersionKnownAt the time from
	// which this version counts as known: the declared one, or VersionAt.
	VersionAt      Instant
	VersionKnownAt Instant
	// Pending marks a close that lies in the future: the fact is active until
	// then, and the sweep supersedes it when due (C-13).
	Pending bool
	// Promoted marks a superseded fact that was a candidate until another one
	// confirmed it: it never held, and is no statement that stands (C-15).
	Promoted bool
}

// Statement returns the id of the statement's first piece.
func (f *Fact) Statement() ID {
	if f.Continues.IsZero() {
		return f.ID
	}
	return f.Continues
}

// Place is where the present version of a fact lay when somebody looked.
type Place struct {
	ID                    ID
	Subject, Predicate    string
	Status                Status
	ValidFrom, ValidUntil Instant
}

// Holds reports whether the piece's time includes t.
func (f *Fact) Holds(t Instant) bool { return f.ValidFrom <= t && t < f.ValidUntil }

// Known returns when the fact was known: as declared, or as recorded (C-28).
func (f *Fact) Known() Instant {
	if f.DeclaredKnownAt.Given() {
		return f.DeclaredKnownAt
	}
	return f.RecordedAt
}

// SameSource reports whether two sources are the same, none included.
func SameSource(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// confidenceTolerance is the difference below which two confidences count as
// one (C-10). The hair above 0.001 lets 0.9 and 0.901 pass in binary.
const confidenceTolerance = 0.001 + 1e-9

// SameConfidence reports whether two confidences count as the same (C-10).
func SameConfidence(a, b float64) bool {
	d := a - b
	return d <= confidenceTolerance && d >= -confidenceTolerance
}
