package fact

// Result is what the state machine answered to one Request.
type Result struct {
	// Tx is the tx that the request took, or, where it changed nothing, the
	// one it was judged at (C-24). RecordedAt is the record time of the
	// judgement.
	Tx         uint64
	RecordedAt Instant
	// Wrote tells whether the request took a tx of its own.
	Wrote bool
	// Replayed tells that an earlier outcome of the same Idempotency-Key is
	// being answered (C-31).
	Replayed bool
	// Err is the refusal, if the request was refused; nothing was written.
	Err *Error

	Asserts   []AssertResult
	Retracted []Fact // whole facts after the retraction, every piece
	// RetractedIDs are the ids that were asked for, in order, those that had
	// been retracted before included.
	RetractedIDs []ID

	Tenant *TenantRecord
	Key    *Key
	Purged uint64
	// Branching is what became of a change to the branches.
	Branching *BranchResult
	// Masked is how much personal data was masked before the request was
	// proposed. The node that took the request knows it; it is not encoded.
	Masked int
}

// AssertResult is what became of one assert.
type AssertResult struct {
	// Fact is the new fact, or the existing one where Duplicate is set.
	Fact      Fact
	Duplicate bool
	// Superseded are the facts that this assert ended, now or in the future, as
	// they stand after it; Moved those that lost only their beginning;
	// Continuations the further pieces that it made, its own first and then
	// those of the facts it cut (C-13).
	Superseded    []Fact
	Moved         []Fact
	Continuations []Fact
	// ActiveBefore and ActiveAfter count the facts of the same subject and
	// predicate that hold at the record time, before and after (explain=1).
	ActiveBefore int
	ActiveAfter  int
}
