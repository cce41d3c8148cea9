package fact

// Version is what a fact was from one tx on, until another one changed it: the
// fields that ever change, in so far as a read is judged by them.
type Version struct {
	ID         ID
	Tx         uint64 // the tx that made this version
	Status     Status
	ValidFrom  Instant
	ValidUntil Instant
	// KnownAt is from when it counts as known: as declared, or as recorded.
	KnownAt Instant
}
