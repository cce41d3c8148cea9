package imports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"abagraph/client"
	"abagraph/fact"
)

// row is one row of a file, read.
type row struct {
	assert    client.Assert
	known     fact.Instant // NoInstant = not declared
	retracted fact.Instant // NoInstant = stands
	// skip tells why the row is left out though nothing is wrong with it.
	skip string
}

// ownedByServer are the fields of an exported fact that a write must not carry:
// an import leaves them out.
var ownedByServer = []string{
	"id", "tenant", "tx", "first_tx", "recorded_at", "declared_known_at", "stated_from", "stated_until", "dated",
	"continues", "superseded_by", "backfill", "batch", "branch", "version_at", "version_known_at", "pending",
}

// fields fills a row from named values.
type fields struct {
	options *Options
	row     row
	status  string
	branch  string
	filled  []string // the names so far
}

// apply sets one field. Its value is JSON.
func (f *fields) apply(name string, value jsontext.Value) error {
	timed := name != "" && (name == f.options.KnownAt || name == f.options.RetractedAt)
	if timed {
		if err := f.applyTime(name, value); err != nil {
			return err
		}
	}
	if to, mapped := f.options.Map[name]; mapped {
		name = to
	}
	switch name {
	case "": // mapped away
		return nil
	case "status":
		return f.text(name, value, &f.status)
	case "branch":
		if value.Kind() == '"' { // the server's own word for where a fact was
			return f.text(name, value, &f.branch)
		}
	}
	if slices.Contains(ownedByServer, name) {
		return nil
	}
	if len(f.options.Map) > 0 { // by which alone one field can come twice
		if slices.Contains(f.filled, name) {
			return fmt.Errorf("two of its fields are the %s", name)
		}
		f.filled = append(f.filled, name)
	}
	known, err := f.applyField(name, value)
	if err != nil || known || timed {
		return err
	}
	return fmt.Errorf("there is no field %q: rename it by --map %s=FIELD, or leave it out by --map %s=", name, name, name)
}

func (f *fields) applyField(name string, value jsontext.Value) (known bool, err error) {
	a := &f.row.assert
	switch name {
	case "subject":
		return true, f.text(name, value, &a.Subject)
	case "predicate":
		return true, f.text(name, value, &a.Predicate)
	case "object":
		a.Object, err = client.DecodeObject([]byte(value))
		return true, err
	case "valid_from":
		a.ValidFrom, err = timeText(name, value)
		return true, err
	case "valid_until":
		a.ValidUntil, err = timeText(name, value)
		return true, err
	case "confidence":
		return true, f.confidence(value)
	case "source":
		return true, f.source(value)
	case "properties":
		return true, f.properties(value)
	case "policy", "policy_override", "conflict_policy":
		return true, f.text(name, value, &a.Policy)
	case "transient":
		return true, f.transient(value)
	}
	return false, nil
}

// finish applies the defaults and judges the row's own times.
func (f *fields) finish() (row, error) {
	r, o := &f.row, f.options
	if f.branch != "" {
		r.assert.Properties = untagged(r.assert.Properties, f.branch)
	}
	if o.Policy != "" {
		r.assert.Policy = o.Policy
	}
	if r.assert.Source == nil && o.Source != "" {
		r.assert.Source = &o.Source
	}
	if o.KnownAt != "" && !r.known.Given() {
		return row{}, fact.Invalid(o.KnownAt, "is missing: the row does not say when it was known")
	}
	if r.retracted.Given() && r.retracted < r.known {
		return row{}, fact.Invalid(o.RetractedAt, "is earlier than "+o.KnownAt+": the row would be retracted before it was known")
	}
	switch {
	case strings.EqualFold(f.status, "retracted") && !r.retracted.Given():
		r.skip = "it is retracted, and no --retracted-at says when"
	case strings.EqualFold(f.status, "superseded") && r.assert.ValidFrom != "" && r.assert.ValidFrom == r.assert.ValidUntil:
		r.skip = "it is superseded and holds at no time"
	}
	if r.known.Given() {
		r.assert.DeclaredKnownAt = client.At(r.known)
	}
	return *r, nil
}

func (f *fields) applyTime(name string, value jsontext.Value) error {
	text, err := timeText(name, value)
	if err != nil || text == "" {
		return err
	}
	t, err := fact.ParseInstant(name, text)
	if err != nil {
		return err
	}
	if name == f.options.KnownAt {
		f.row.known = t
	} else {
		f.row.retracted = t
	}
	return nil
}

func (f *fields) text(name string, value jsontext.Value, to *string) error {
	if value.Kind() == 'n' {
		return nil
	}
	if value.Kind() != '"' {
		return fact.Invalid(name, "must be text")
	}
	return json.Unmarshal(value, to)
}

func (f *fields) confidence(value jsontext.Value) error {
	if value.Kind() != '0' {
		return fact.Invalid("confidence", "must be a number from 0 to 1")
	}
	var confidence float64
	if err := json.Unmarshal(value, &confidence); err != nil {
		return fact.Invalid("confidence", "must be a number from 0 to 1")
	}
	f.row.assert.Confidence = &confidence
	return nil
}

func (f *fields) source(value jsontext.Value) error {
	if value.Kind() == 'n' {
		return nil
	}
	var source string
	if err := f.text("source", value, &source); err != nil {
		return err
	}
	f.row.assert.Source = &source
	return nil
}

func (f *fields) properties(value jsontext.Value) error {
	switch value.Kind() {
	case 'n':
		return nil
	case '{':
		f.row.assert.Properties = []byte(value.Clone())
		return nil
	}
	return fact.Invalid("properties", "must be a JSON object")
}

// untagged takes the name of the branch that a fact was exported from out of its
// properties: where it goes, it is on another one.
func untagged(properties []byte, branch string) []byte {
	tag := `{"_branch":"` + branch + `"`
	rest, tagged := strings.CutPrefix(string(properties), tag)
	switch {
	case !tagged:
		return properties
	case rest == "}":
		return nil
	}
	return []byte("{" + strings.TrimPrefix(rest, ","))
}

func (f *fields) transient(value jsontext.Value) error {
	switch value.Kind() {
	case 'n':
		return nil
	case 't', 'f':
		f.row.assert.Transient = value.Kind() == 't'
		return nil
	}
	return fact.Invalid("transient", "must be true or false")
}

// timeText returns a time as the text that the server reads: the server judges
// it. null is no time.
func timeText(name string, value jsontext.Value) (string, error) {
	switch value.Kind() {
	case 'n':
		return "", nil
	case '0':
		t, err := fact.ParseMillisNumber(name, string(value))
		return client.At(t), err
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		if err == nil && text == "" {
			err = fact.Invalid(name, "is not a time: it is empty")
		}
		return text, err
	}
	return "", fact.Invalid(name, "must be a time: Unix milliseconds or RFC 3339")
}
