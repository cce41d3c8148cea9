package fact

// DefaultThreshold is the confidence below which a fact is a candidate (C-7).
const DefaultThreshold = 0.75

// MaxTransactRows is the most guards, retracts and asserts that one transact
// may hold together (C-34).
const MaxTransactRows = 10_000

// Request is one write, ready to be proposed: everything that is not a pure
// function of the state has been decided (ids, threshold, masked text, vectors).
// Just one of Write, Registry, Purge, Vectors and Branching is set.
type Request struct {
	Tenant    string // whose data; "" = ownerless
	Branch    string
	Actor     string // the name of the key that asked, never the key
	Threshold float64
	Explain   bool // count what holds before and after each assert
	Idem      *Idempotency

	Write    *Write
	Registry *TenantChange
	Purge    *Purge
	Vectors  *Vectors
	// Branching makes or closes a branch; Branch is not looked at.
	Branching *BranchChange
}

// IdempotencyField is the header that names a write, and the field of the error where
// it named another one.
const IdempotencyField = "Idempotency-Key"

// Idempotency names a write that may be retried (C-31). A key is unique per
// tenant, method and path.
type Idempotency struct {
	Key    string
	Method string
	Path   string
	Hash   [32]byte // of the request's body and query
}

// Write is a batch: guards, then retracts, then asserts, each seeing what came
// before it; all or nothing, in one tx (C-34).
type Write struct {
	Guards   []Guard
	Retracts []Retract
	Asserts  []Assert
	Backfill *Backfill
	// Blobs are pieces of documents that the asserts, or those of a later write,
	// refer to.
	Blobs []BlobPart
	// Model made the vectors of the asserts, those that have one.
	Model Model
}

// Guard is a condition on the live view at the write's record time (C-34); a
// GuardSame may be about another instant.
type Guard struct {
	Subject   string
	Predicate string
	Kind      GuardKind
	Object    Object
}

// GuardKind is what a guard asks for.
type GuardKind uint8

// The kinds of guards: exactly one distinct object, and it is this one; no fact
// at all; this object among those that hold; the very facts that a reader was
// shown, whose Fingerprint the object is.
const (
	GuardExpect GuardKind = iota
	GuardAbsent
	GuardObject
	GuardSame
)

// Retract ends a statement (C-16).
type Retract struct {
	ID ID
	// KnownAt declares when the retraction was known (C-28), or is NoInstant.
	KnownAt Instant
}

// Assert is one statement to be laid over its timeline (C-10 to C-15).
type Assert struct {
	ID         ID
	Subject    string
	Predicate  string
	Object     Object
	ValidFrom  Instant // NoInstant = undated: it starts at its record time
	ValidUntil Instant // Forever = open
	Confidence float64
	Source     *string
	Properties []byte
	Policy     Policy
	Transient  bool
	// KnownAt declares when the row was known (C-28), or is NoInstant.
	KnownAt Instant
	// Vector stands for the text, at length 1; nil where it has none (C-54).
	Vector []float32
}

// Backfill declares that a batch's data was known before today (C-28).
type Backfill struct {
	KnownAt Instant // for rows that declare none themselves; NoInstant = none
	Reason  string
}

// TenantOp is a change to the registry of tenants and keys.
type TenantOp uint8

// The changes to the registry.
const (
	TenantCreate TenantOp = iota + 1
	TenantDelete
	KeyAdd
	KeyRevoke
)

// TenantChange changes the registry of tenants and their keys.
type TenantChange struct {
	Op    TenantOp
	ID    string
	Name  string
	Quota int64 // soft fact quota; 0 = none
	Key   *Key  // for TenantCreate and KeyAdd
	KeyID string
	// RevokeOthers makes KeyAdd a rotation: every other key of the tenant with
	// the same role and name is revoked in the same tx.
	RevokeOthers bool
}

// Role is what a key may do within its tenant.
type Role uint8

// The roles, each including the ones before it.
const (
	RoleRead Role = iota + 1
	RoleWrite
	RoleAdmin
)

var roleNames = [...]string{RoleRead: "read", RoleWrite: "write", RoleAdmin: "admin"}

// String returns the role's name.
func (r Role) String() string {
	if int(r) < len(roleNames) && r > 0 {
		return roleNames[r]
	}
	return ""
}

// ParseRole reads a role.
func ParseRole(field, text string) (Role, error) {
	for r := RoleRead; r <= RoleAdmin; r++ {
		if text == roleNames[r] {
			return r, nil
		}
	}
	return 0, Invalid(field, "has no such value: "+quote(text)+" (read, write or admin)")
}

// Key is one API key of a tenant, as the registry keeps it: a hash, never the
// key itself (C-41).
type Key struct {
	ID        string
	Name      string
	Role      Role
	Hash      [32]byte // SHA-256 of the key
	Tenant    string
	CreatedAt Instant
	RevokedAt Instant // NoInstant while it is valid
}

// TenantRecord is a registered tenant.
type TenantRecord struct {
	ID        string
	Name      string
	Status    string // active or deleted
	Quota     int64
	CreatedAt Instant
}

// Purge erases facts for good, every version and index of them (C-56). Just one
// of Subject and Prefix is set; a kind is the prefix "Kind:".
type Purge struct {
	AllTenants bool // else only the request's tenant
	Subject    string
	Prefix     string
}
