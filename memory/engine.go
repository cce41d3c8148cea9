package memory

import (
	"context"

	"abagraph/fact"
)

// Engine is the replicated log with its state machine, as seen from one node.
// Its errors are fact.Errors: NoLeader, Timeout (the outcome is unknown, C-32),
// RateLimited and Closed.
type Engine interface {
	// Propose has a request committed and applied. A refusal judged in apply is
	// Result.Err, not the error.
	Propose(ctx context.Context, r *fact.Request) (*fact.Result, error)
	// Basis waits until this node may answer a read at the level, having
	// applied at least minTx (C-26).
	Basis(ctx context.Context, level fact.Level, minTx uint64) (fact.Basis, error)
	// WaitTx waits until this node has applied a tx.
	WaitTx(ctx context.Context, tx uint64) error
	// Position is where this node stands.
	Position() fact.Position
}

// View is one consistent state of the store. It must be closed.
type View interface {
	Position() fact.Position
	Facts(ctx context.Context, q *fact.Query) (*fact.Page, error)
	// Each visits every fact that a query selects, without order or limit. A fact is
	// valid until visit returns.
	Each(ctx context.Context, q *fact.Query, visit func(*fact.Fact) bool) error
	// EachVersion visits every fact of one tenant as it is now, and then every
	// version that was replaced.
	EachVersion(ctx context.Context, scope fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error
	// Recent returns, of the last look asserts, those that a query selects, the
	// newest first.
	Recent(ctx context.Context, q *fact.Query, look int) ([]fact.Fact, error)
	// EachSubject visits subject after subject, in order, with what each of several
	// queries selects of it.
	EachSubject(ctx context.Context, q *fact.SubjectQuery, visit func(*fact.SubjectFacts) (bool, error)) error
	// IsSubject reports whether a name is the subject of any fact.
	IsSubject(ctx context.Context, scope fact.Scope, name string, at fact.At) (bool, error)
	// Get returns one fact without its pieces; nil where there is none.
	Get(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Fact, error)
	// GetFrom is Get for a fact of which somebody remembers where it lay, which may be
	// out of date.
	GetFrom(ctx context.Context, scope fact.Scope, p *fact.Place, at fact.At) (*fact.Fact, error)
	Fact(ctx context.Context, scope fact.Scope, id fact.ID, at fact.At) (*fact.Statement, error)
	History(ctx context.Context, scope fact.Scope, id fact.ID, limit int) (*fact.History, error)
	Entities(ctx context.Context, q *fact.EntityQuery) ([]fact.Entity, error)
	Predicates(ctx context.Context, scope fact.Scope, at fact.At, after string, limit int) ([]string, error)
	Stats(ctx context.Context, scope fact.Scope) (fact.Stats, error)
	// Branch returns the record of a branch, or NotFound; Branches lists them.
	Branch(ctx context.Context, scope fact.Scope, name string) (*fact.Branch, error)
	Branches(ctx context.Context, q *fact.BranchQuery) ([]fact.Branch, error)
	// BranchDiff tells what a branch changes of its parent as it was at the base.
	BranchDiff(ctx context.Context, scope fact.Scope, name string, now fact.Instant, limit int) (*fact.BranchDiff, error)
	Events(ctx context.Context, q *fact.EventQuery) (*fact.EventPage, error)
	PurgeCount(ctx context.Context, scope fact.Scope, p fact.Purge) (uint64, error)
	// DataTenants lists the tenants that hold data, the ownerless scope included.
	DataTenants(ctx context.Context) ([]string, error)
	Tenants(ctx context.Context) ([]fact.TenantRecord, error)
	Tenant(ctx context.Context, id string) (*fact.TenantRecord, error)
	Keys(ctx context.Context, tenant string) ([]fact.Key, error)
	KeyByHash(ctx context.Context, hash [32]byte) (*fact.Key, error)
	// EachVector visits one tenant's vectors of a model that were set after a tx,
	// in the order of txs, until visit answers false; Vectors visits those of some
	// statements, in their order, nil where there is none, each until visit returns,
	// and may be called by several at once. Both are the present's:
	// what was set after a tx was not there at the tx.
	EachVector(ctx context.Context, scope fact.Scope, m fact.Model, after uint64, visit func(statement fact.ID, tx uint64, vector []float32) bool) error
	Vectors(ctx context.Context, scope fact.Scope, m fact.Model, list []fact.VectorAt, visit func(i int, vector []float32)) error
	VectorTx(ctx context.Context, scope fact.Scope, m fact.Model, statement fact.ID) (uint64, error)
	CountVectors(ctx context.Context, scope fact.Scope, m fact.Model) (fact.VectorCount, error)
	// Audit returns a part of the audit trail.
	Audit(ctx context.Context, q *fact.AuditQuery) (*fact.AuditPage, error)
	// BlobPart returns a piece of a blob of a tenant; nil where there is none.
	BlobPart(ctx context.Context, scope fact.Scope, hash [32]byte, part uint32) ([]byte, error)
	TxAt(ctx context.Context, t fact.Instant) (uint64, error)
	RecordTime(ctx context.Context, tx uint64) (fact.Instant, error)
	Close()
}
