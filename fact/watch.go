package fact

import "strings"

// What watches over a tenant's facts is facts too: rules, and what they say now.
const (
	AlertKind       = "Alert:"
	AlertRule       = "alert_rule"
	AlertState      = "alert_state"
	AlertTold       = "alert_told"
	AlertSource     = "abagraph:alerts"
	AlertRuleSource = "abagraph:alert-rules"
)

// IsGoverned reports whether facts of a subject and predicate steer the server, so
// that writing them needs a key of role admin: those of a policy, and of alerts.
func IsGoverned(subject, predicate string) bool {
	if IsPolicy(subject, predicate) {
		return true
	}
	switch predicate {
	case AlertRule, AlertState, AlertTold:
		return strings.HasPrefix(subject, AlertKind)
	}
	return false
}
