package fact

import "strings"

// Status is what a fact counts as. The zero value is no status.
type Status uint8

// The four statuses. A superseded fact was ended by another one; a candidate
// is below the confidence threshold and closes nothing (C-15).
const (
	Active Status = iota + 1
	Candidate
	Superseded
	Retracted
)

var statusNames = [...]string{Active: "active", Candidate: "candidate", Superseded: "superseded", Retracted: "retracted"}

// String returns the lower-case name that answers carry (C-4).
func (s Status) String() string {
	if int(s) < len(statusNames) && s > 0 {
		return statusNames[s]
	}
	return ""
}

// ParseStatus reads a status in any case (C-4).
func ParseStatus(text string) (Status, bool) {
	for s := Active; s <= Retracted; s++ {
		if strings.EqualFold(text, statusNames[s]) {
			return s, true
		}
	}
	return 0, false
}

// StatusSet is a set of statuses.
type StatusSet uint8

// AllStatuses holds every status.
const AllStatuses StatusSet = 1<<Active | 1<<Candidate | 1<<Superseded | 1<<Retracted

// With returns the set with s added.
func (set StatusSet) With(s Status) StatusSet { return set | 1<<s }

// Has reports whether s is in the set.
func (set StatusSet) Has(s Status) bool { return set&(1<<s) != 0 }

// ParseStatusSet reads a comma list of statuses in any case, or all (C-20).
func ParseStatusSet(field, text string) (StatusSet, error) {
	var set StatusSet
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if strings.EqualFold(word, "all") {
			set |= AllStatuses
			continue
		}
		s, ok := ParseStatus(word)
		if !ok {
			return 0, Invalid(field, "has no such value: "+quote(word)+" (active, candidate, superseded, retracted or all)")
		}
		set = set.With(s)
	}
	return set, nil
}

// Policy says what an assert does to the facts that it conflicts with (C-14).
type Policy uint8

// The three policies. The zero value is AutoSupersede, the default.
const (
	AutoSupersede Policy = iota
	Coexist
	Reject
)

var policyNames = [...]string{"auto_supersede", "coexist", "reject"}

// String returns the name that answers carry.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return ""
}

// ParsePolicy reads a policy in any of its spellings: auto_supersede,
// AutoSupersede and auto-supersede are one word (C-6).
func ParsePolicy(field, text string) (Policy, error) {
	word := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(text))
	switch word {
	case "autosupersede":
		return AutoSupersede, nil
	case "coexist":
		return Coexist, nil
	case "reject":
		return Reject, nil
	}
	return 0, Invalid(field, "has no such value: "+quote(text)+" (auto_supersede, coexist or reject)")
}
