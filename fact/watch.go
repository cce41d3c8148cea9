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

// ConnectorKind begins the subject of a connector, and ConnectorSettings is the
// predicate of its settings.
const (
	ConnectorKind     = "Connector:"
	ConnectorSettings = "connector"
)

// SendsSecret reports whether a fact is a connector that sends a secret of the tenant's
// to its URL: the settings are a text of JSON, in which the name of that field stands,
// plainly or escaped.
func SendsSecret(subject, predicate string, object Object) bool {
	return predicate == ConnectorSettings && strings.HasPrefix(subject, ConnectorKind) && object.Kind == Text &&
		(strings.Contains(object.Text, `"auth"`) || strings.Contains(object.Text, `\u`))
}

// A report is facts too: what it is, how its last run went, and the newest edition.
const (
	ReportKind    = "Report:"
	ReportRule    = "report"
	ReportState   = "report_state"
	ReportEdition = "report_edition"
	ReportSource  = "abagraph:reports"
)

// Quotes reports whether the object of a fact only repeats what other facts say or said:
// an edition of a report, or the body of its page. Whoever looks for what is so is to
// find those facts, and not what was told of them once.
func Quotes(predicate string, source *string) bool {
	return source != nil && *source == ReportSource && (predicate == ReportEdition || predicate == "wiki_body")
}

// IsGoverned reports whether facts of a subject and predicate steer the server, so
// that writing them needs a key of role admin: those of a policy, of alerts and of
// reports.
func IsGoverned(subject, predicate string) bool {
	if IsPolicy(subject, predicate) {
		return true
	}
	switch predicate {
	case AlertRule, AlertState, AlertTold:
		return strings.HasPrefix(subject, AlertKind)
	case ReportRule, ReportState, ReportEdition:
		return strings.HasPrefix(subject, ReportKind)
	}
	return false
}
