package fact

import "strings"

// states are the facts in which the server keeps what it goes by itself: the kind of
// the subject, and the predicates.
var states = [...]struct {
	kind       string
	predicates []string
}{
	{ConnectorKind, []string{ConnectorSettings, "connector_state"}},
	{"Trigger:", []string{"trigger", "trigger_state"}},
	{"Job:", []string{"digest_status", "chunks_done", "digest_run", "digest_result"}},
	{"Lease:", []string{"lease_held_by"}},
	{"Secret:", []string{"secret_reference"}},
	{"Approval:", []string{"approves"}},
	{DocumentKind, []string{DocumentContent}},
}

// IsState reports whether the server itself goes by facts of a subject and predicate,
// those of IsGoverned included. What is found in texts never becomes such a fact,
// whoever had the text read.
func IsState(subject, predicate string) bool {
	if IsGoverned(subject, predicate) {
		return true
	}
	for i := range states {
		if !strings.HasPrefix(subject, states[i].kind) {
			continue
		}
		for _, p := range states[i].predicates {
			if p == predicate {
				return true
			}
		}
	}
	return false
}
