package rules

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Requirement is the fact that a permission needs a second agent's approval.
type Requirement struct {
	ID          fact.ID
	Permission  string
	Branches    []string // patterns; none = any
	Broken      string   // why it cannot be understood: then nothing is let through
	Source      *string
	Tx          uint64
	from, until fact.Instant
}

// Approvable are the permissions for which an approval can be required: what is said
// on a branch can be looked at before it counts, and a single fact can be written on
// a branch.
var Approvable = []string{BranchCreate, BranchPromote, BranchDiscard}

// NeedsApproval returns the requirement that a permission on a branch is under, or nil.
func (s *Set) NeedsApproval(permission, branch string, now fact.Instant) *Requirement {
	for i := range s.Requires {
		r := &s.Requires[i]
		if holds(r.from, r.until, now) && covers(r.Permission, permission) && (r.Broken != "" || fact.MatchesAny(r.Branches, &branch)) {
			return r
		}
	}
	return nil
}

// covers reports whether a permission, or the beginning of one and a star, is that one.
func covers(pattern, permission string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	return pattern == permission || open && strings.HasPrefix(permission, begin)
}

func requirement(f *fact.Fact) Requirement {
	r := Requirement{ID: f.ID, Source: f.Source, Tx: f.Tx, from: f.ValidFrom, until: f.ValidUntil}
	r.Permission = strings.TrimPrefix(f.Subject, fact.PolicyPermission)
	branches, err := CheckRequirement(f.Subject, f.Object, f.Properties)
	r.Branches = branches
	if err != nil {
		r.Broken = err.Error()
	}
	return r
}

// CheckRequirement refuses a requirement that could not be judged by, and returns the
// branches that it is about.
func CheckRequirement(subject string, object fact.Object, properties []byte) ([]string, error) {
	permission := strings.TrimPrefix(subject, fact.PolicyPermission)
	if !slices.ContainsFunc(Approvable, func(p string) bool { return covers(permission, p) }) || !Known(permission) || permission == "*" {
		return nil, fact.Invalid("subject", "cannot require an approval: it can be required of "+strings.Join(Approvable, ", ")+" and branch:*")
	}
	if object.Kind != fact.Text || object.Text != fact.PolicyApproval {
		return nil, fact.Invalid("object", "must be "+fact.PolicyApproval)
	}
	if len(properties) == 0 {
		return nil, nil
	}
	v, err := jsonx.Parse(properties)
	if err != nil {
		return nil, err
	}
	f := jsonx.Open(v, "properties")
	branches := patterns(f, "branches")
	return branches, f.Done()
}

func compareRequirements(a, b Requirement) int {
	return cmp.Or(cmp.Compare(a.Permission, b.Permission), bytes.Compare(a.ID[:], b.ID[:]))
}

// DocumentRequirement says that a permission needs an approval, on some branches or all.
type DocumentRequirement struct {
	Permission string
	Branches   []string
}

func documentRequirement(v jsonx.Value, path string) (DocumentRequirement, error) {
	f := jsonx.Open(v, path)
	r := DocumentRequirement{Permission: strings.TrimPrefix(f.Required("permission"), fact.PolicyPermission), Branches: patterns(f, "branches")}
	if approval, given := f.Text("approval"); given && fact.PolicyApprovalKind+strings.TrimPrefix(approval, fact.PolicyApprovalKind) != fact.PolicyApproval {
		f.Fail(fact.Invalid(f.Path("approval"), "must be maker-checker"))
	}
	if _, err := CheckRequirement(fact.PolicyPermission+r.Permission, fact.TextObject(fact.PolicyApproval), nil); err != nil {
		f.Fail(fact.Invalid(f.Path("permission"), "must be one of "+strings.Join(Approvable, ", ")+", or branch:*"))
	}
	return r, f.Done()
}

// requirementProperties writes the branches of a requirement; nil for all.
func requirementProperties(branches []string) []byte {
	if len(branches) == 0 {
		return nil
	}
	return append(jsonx.AppendStrings([]byte(`{"branches":`), branches), '}')
}

// requirements are those of the document, one a permission, since the same statement
// is made but once: branches of one permission are taken together.
func (d *Document) requirements() []DocumentRequirement {
	var list []DocumentRequirement
	for _, r := range d.Requires {
		i := slices.IndexFunc(list, func(other DocumentRequirement) bool { return other.Permission == r.Permission })
		switch {
		case i < 0:
			list = append(list, DocumentRequirement{r.Permission, slices.Clone(r.Branches)})
		case len(list[i].Branches) == 0 || len(r.Branches) == 0:
			list[i].Branches = nil
		default:
			list[i].Branches = append(list[i].Branches, r.Branches...)
		}
	}
	slices.SortFunc(list, func(a, b DocumentRequirement) int { return cmp.Compare(a.Permission, b.Permission) })
	return list
}
