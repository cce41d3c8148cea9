package fact

import "strings"

// Bounds of branches (C-55).
const (
	MaxBranchBytes = 64 // of a name
	// MaxBranchDepth is how many branches may stand upon one another: each is one
	// more place for a read to look into.
	MaxBranchDepth = 16
	// MaxConflicts is how many conflicts the answer to a promotion names.
	MaxConflicts = 1_000
)

// Branch is a registered branch: an overlay over its parent as it was recorded
// at a tx (C-55).
type Branch struct {
	Tenant string // the owner; "" is the ownerless scope
	Name   string
	Parent string
	// BaseTx is the last tx of the parent that the branch sees, and BaseAt its
	// record time, NoInstant for tx 0. BaseTs is the fork point that was asked
	// for, or the time of the creation.
	BaseTx uint64
	BaseAt Instant
	BaseTs Instant
	Status BranchStatus
	// Depth is 1 over main, 2 over such a branch, and so on.
	Depth     int
	CreatedAt Instant
	CreatedTx uint64
	CreatedBy string
	// ClosedAt and ClosedTx tell when it was promoted or discarded: NoInstant and
	// 0 while it is open.
	ClosedAt Instant
	ClosedTx uint64
	ClosedBy string
}

// BranchStatus tells whether a branch takes writes. The zero value is open.
type BranchStatus uint8

// The statuses of a branch.
const (
	BranchOpen BranchStatus = iota
	BranchPromoted
	BranchDiscarded
)

var branchStatusNames = [...]string{"open", "promoted", "discarded"}

// String returns the word that answers carry.
func (s BranchStatus) String() string {
	if int(s) < len(branchStatusNames) {
		return branchStatusNames[s]
	}
	return ""
}

// ParseBranchStatus reads a status of branches.
func ParseBranchStatus(field, text string) (BranchStatus, error) {
	for i, name := range branchStatusNames {
		if strings.EqualFold(text, name) {
			return BranchStatus(i), nil
		}
	}
	return 0, Invalid(field, "has no such value: "+quote(text)+" (open, promoted or discarded)")
}

// CheckBranch refuses the name of a new branch that is not 1 to 64 ASCII letters,
// digits, dashes or underscores, or that is main.
func CheckBranch(field, name string) error {
	if name == "" || len(name) > MaxBranchBytes {
		return Invalid(field, "must have 1 to 64 characters")
	}
	if name == MainBranch {
		return Invalid(field, "must not be main, which is there always")
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isAlnum(c) && c != '-' && c != '_' {
			return Invalid(field, "may hold only ASCII letters, digits, dashes and underscores: "+quote(name))
		}
	}
	return nil
}

// BranchOp is a change to the registry of branches.
type BranchOp uint8

// The changes to the registry of branches.
const (
	BranchCreate BranchOp = iota + 1
	BranchPromote
	BranchDiscard
)

// BranchChange makes or closes a branch of the request's tenant.
type BranchChange struct {
	Op   BranchOp
	Name string
	// Parent and AsOf are those of a new branch; AsOf is NoInstant for now.
	Parent string
	AsOf   Instant
	// DryRun judges a promotion and writes nothing.
	DryRun bool
}

// BranchResult is what became of a BranchChange.
type BranchResult struct {
	Op     BranchOp
	Branch Branch // as the change left it
	DryRun bool
	// Promoted counts the statements that a promotion asserted, Unchanged those
	// of them that the parent held already, Retracted the statements that it
	// retracted.
	Promoted  int
	Unchanged int
	Retracted int
	// Superseded are the facts of the parent that the promotion ended.
	Superseded []ID
	// Discarded counts the facts that were made on a discarded branch.
	Discarded int
	// Conflicts are the first of those that a promotion met, in the order in which
	// it met them; ConflictCount counts them all.
	Conflicts     []BranchConflict
	ConflictCount int
}

// ConflictReason says why a promotion meets a conflict.
type ConflictReason uint8

// The reasons: the parent's facts were changed after the fork; the statement may
// not be asserted there, by its policy or because it was declared to have been
// known before what it meets, and the promotion as a whole is refused.
const (
	ParentChanged ConflictReason = iota + 1
	Rejected
)

var reasonNames = [...]string{ParentChanged: "parent_changed", Rejected: "rejected"}

// String returns the word that answers carry.
func (r ConflictReason) String() string {
	if int(r) < len(reasonNames) && r > 0 {
		return reasonNames[r]
	}
	return ""
}

// BranchConflict is a statement of a branch, or a retraction made on it, with
// the facts of the parent that it meets.
type BranchConflict struct {
	Reason ConflictReason
	Fact   Fact
	With   []Fact
}

// BranchQuery lists branches in the order of owner and name.
type BranchQuery struct {
	Scope Scope
	After string // list those of greater names
	Limit int    // 0 = MaxLimit
	// Status filters where StatusGiven is set.
	Status      BranchStatus
	StatusGiven bool
}

// BranchDiff is what a branch changes of its parent as it was at the base: what a
// promotion would carry over. Each statement is told by one fact. The lists hold
// their first rows, by (subject, predicate, tx, id); the counts are of all.
type BranchDiff struct {
	Branch Branch
	// Added are statements of a subject and predicate of which the parent held no
	// other object at the fork point, Changed those where it did.
	Added   []Fact
	Changed []Fact
	// Removed are facts of the parent that were retracted on the branch, Replaced
	// those that it ended or moved otherwise. They stand as the branch has them.
	Removed  []Fact
	Replaced []Fact

	AddedCount, ChangedCount, RemovedCount, ReplacedCount int
}
