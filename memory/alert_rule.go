package memory

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Alert is a rule over the facts of a tenant's main branch.
type Alert struct {
	Name      string
	Kind      string
	Threshold float64
	// Window is how far back drift and cost look, in seconds.
	Window    int64
	Predicate string // only facts of it; a star at the end stands for all that begin so; "" = any
	Source    string // the same of sources
	Webhook   string // an address, or secret: and a name; "" = none
	Secret    string // the name of the secret that signs what is sent; "" = unsigned
	CreatedAt fact.Instant
	Tx        uint64

	// State is ok or firing, "" before the first look; Value what was measured
	// when it became so, NaN for nothing; Since when.
	State string
	Value float64
	Since fact.Instant
	// Told tells that the webhook has taken the state.
	Told bool

	stateID fact.ID
	ruleID  fact.ID
	toldID  fact.ID
	told    string // the id of the state that the webhook took last
}

// AlertKinds are the kinds of rules.
var AlertKinds = []string{"confidence", "freshness", "drift", "contradictions", "cost"}

// The words of an alert's state.
const (
	AlertOK     = "ok"
	AlertFiring = "firing"
)

const (
	defaultWindow = 86_400
	maxWindow     = 366 * 86_400
	// MaxAlerts is the most rules of one tenant.
	MaxAlerts = 100
)

// ParseAlert reads a rule.
func ParseAlert(v jsonx.Value) (*Alert, error) {
	f := jsonx.Open(v, "")
	a := &Alert{Name: f.Required("name"), Kind: f.Required("kind")}
	if err := checkSecretName("name", a.Name); err != nil {
		f.Fail(err)
	}
	a.fields(f)
	return a, f.Done()
}

// fields reads what a rule has besides its name and kind.
func (a *Alert) fields(f *jsonx.Fields) {
	given := false
	if a.Threshold, given = number(f, "threshold"); !given {
		f.Fail(fact.Invalid(f.Path("threshold"), "is required"))
	}
	a.Window = defaultWindow
	n, windowed := f.Integer("window_secs", 1, maxWindow)
	if windowed {
		a.Window = n
	}
	a.Predicate = pattern(f, "predicate")
	a.Source = pattern(f, "source")
	a.Webhook, _ = f.Text("webhook")
	a.Secret, _ = f.Text("secret")
	if problem := a.problem(f, windowed); problem != nil {
		f.Fail(problem)
	}
}

func number(f *jsonx.Fields, name string) (float64, bool) {
	v, given := f.Get(name)
	if !given {
		return 0, false
	}
	n, err := strconv.ParseFloat(v.Raw, 64)
	if v.Kind != jsonx.Number || err != nil || math.IsInf(n, 0) {
		f.Fail(fact.Invalid(f.Path(name), "must be a number"))
	}
	return n, true
}

func pattern(f *jsonx.Fields, name string) string {
	text, given := f.Text(name)
	if given && (text == "" || strings.Contains(strings.TrimSuffix(text, "*"), "*")) {
		f.Fail(fact.Invalid(f.Path(name), "must be a name, or the beginning of one and a star"))
	}
	return normalise(text)
}

// problem tells what does not fit the rule's kind.
func (a *Alert) problem(f *jsonx.Fields, windowed bool) error {
	switch a.Kind {
	case "confidence", "drift":
		if a.Threshold < 0 || a.Threshold > 1 {
			return fact.Invalid(f.Path("threshold"), "must be from 0 to 1 for "+a.Kind)
		}
	case "freshness", "contradictions", "cost":
		if a.Threshold < 0 {
			return fact.Invalid(f.Path("threshold"), "must not be negative for "+a.Kind)
		}
	default:
		return fact.Invalid(f.Path("kind"), "must be one of "+strings.Join(AlertKinds, ", "))
	}
	switch {
	case windowed && a.Kind != "drift" && a.Kind != "cost":
		return fact.Invalid(f.Path("window_secs"), "is for drift and cost only")
	case a.Kind == "cost" && a.Predicate+a.Source != "":
		return fact.Invalid(f.Path("predicate"), "and source cannot narrow cost, which counts every write")
	case a.Kind == "contradictions" && (a.Source != "" || strings.HasSuffix(a.Predicate, "*")):
		return fact.Invalid(f.Path("source"), "and a star cannot narrow contradictions, which lie between sources: name one predicate, or none")
	case a.Secret != "" && a.Webhook == "":
		return fact.Invalid(f.Path("secret"), "signs what a webhook is sent: give webhook too")
	}
	if a.Secret != "" {
		if err := checkSecretName(f.Path("secret"), a.Secret); err != nil {
			return err
		}
	}
	return checkWebhook(f.Path("webhook"), a.Webhook)
}

// secretReference stands before the name of a secret that holds an address.
const secretReference = "secret:"

func checkWebhook(field, webhook string) error {
	if webhook == "" {
		return nil
	}
	if name, ref := strings.CutPrefix(webhook, secretReference); ref {
		return checkSecretName(field, name)
	}
	u, err := url.Parse(webhook)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(webhook) > 1024 {
		return fact.Invalid(field, "must be an address such as https://hooks.example.com/x, or secret: and the name of a secret that holds one")
	}
	return nil
}

// definition is the rule as the properties of its fact.
func (a *Alert) definition() []byte {
	b := append([]byte(`{"threshold":`), formatNumber(a.Threshold)...)
	if a.Kind == "drift" || a.Kind == "cost" {
		b = strconv.AppendInt(append(b, `,"window_secs":`...), a.Window, 10)
	}
	for _, part := range [...][2]string{{"predicate", a.Predicate}, {"source", a.Source}, {"webhook", a.Webhook}, {"secret", a.Secret}} {
		if part[1] != "" {
			b = append(jsonx.AppendString(append(b, ','), part[0]), ':')
			b = jsonx.AppendString(b, part[1])
		}
	}
	return append(b, '}')
}

// formatNumber writes a measured number, null for none.
func formatNumber(n float64) string {
	if math.IsNaN(n) {
		return "null"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// read fills in what one of the alert's facts says. Facts that were not written by
// the server are passed over where they make no sense.
func (a *Alert) read(f *fact.Fact) {
	switch f.Predicate {
	case fact.AlertRule:
		a.Kind, a.CreatedAt, a.Tx, a.ruleID = f.Object.Text, f.RecordedAt, f.Tx, f.ID
		v, err := jsonx.Parse(f.Properties)
		if err != nil {
			a.Kind = ""
			return
		}
		g := jsonx.Open(v, "properties")
		a.fields(g)
		if g.Done() != nil {
			a.Kind = ""
		}
	case fact.AlertTold:
		a.toldID, a.told = f.ID, f.Object.Text
	case fact.AlertState:
		a.State, a.Since, a.stateID, a.Value = f.Object.Text, f.ValidFrom, f.ID, math.NaN()
		if v, err := jsonx.Parse(f.Properties); err == nil {
			if n, given := number(jsonx.Open(v, ""), "value"); given {
				a.Value = n
			}
		}
	}
}
