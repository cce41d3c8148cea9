package fact

// AuditQuery selects what a tenant's trail, or everyone's, tells (C-56).
type AuditQuery struct {
	Scope Scope
	// After and Before bound the txs, both exclusive; Before 0 = no bound.
	After, Before uint64
	Forward       bool // the oldest first
	Actor, Action string
	Limit         int // 0 = DefaultLimit
}

// AuditRecord is one tx: who did what, and when. It holds no word of any fact.
type AuditRecord struct {
	Tx         uint64
	RecordedAt Instant
	Tenant     string
	AllTenants bool // a purge of every tenant
	Branch     string
	// Action is write, purge, sweep, vectors, branch.create and the like.
	Action string
	Target string // the branch, tenant or key that it was done to, or ""
	Actor  string // the name of the key, "" for what the store does by itself
	// Reason and DeclaredKnownAt are those of a backfill (C-28).
	Reason          string
	DeclaredKnownAt Instant
	// Counted is set where the counts are this scope's to see; those of a purge
	// are nobody's.
	Counted                                  bool
	Asserted, Superseded, Retracted, Expired uint64
	Digest, Hash                             [32]byte
	// Chained is set where Hash goes over this record and all before it; those
	// of programs before the chain have none.
	Chained bool
}

// AuditPage is a part of a trail. Next is the tx after which (going backwards,
// before which) there may be more; 0 = that was all.
type AuditPage struct {
	Records []AuditRecord
	Next    uint64
}
