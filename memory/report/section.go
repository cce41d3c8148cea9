package report

import (
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// The sections of a report, in the order in which they are told.
const (
	Changes        = "changes"
	Contradictions = "contradictions"
	NewEntities    = "new_entities"
	Candidates     = "candidates"
	LowConfidence  = "low_confidence"
	Stale          = "stale"
	Sources        = "sources"
	Agents         = "agents"
	Alerts         = "alerts"
)

// kind is what a section is called, and which columns its table has.
type kind struct {
	name    string
	heading string
	columns []string
}

var kinds = []kind{
	{Changes, "What changed", []string{"what", "subject", "predicate", "object", "confidence", "source"}},
	{Contradictions, "Contradictions", []string{"kind", "subject", "predicate", "objects", "facts"}},
	{NewEntities, "New entities", []string{"subject", "facts"}},
	{Candidates, "Held candidates", []string{"subject", "predicate", "object", "confidence", "source", "recorded_at"}},
	{LowConfidence, "Low confidence", []string{"subject", "predicate", "object", "confidence", "source"}},
	{Stale, "Long unconfirmed", []string{"subject", "predicate", "object", "source", "recorded_at"}},
	{Sources, "Sources", []string{"source", "facts", "new"}},
	{Agents, "Who wrote", []string{"actor", "txs", "asserted", "superseded", "retracted"}},
	{Alerts, "Alerts", []string{"alert", "state", "since_at"}},
}

// Names lists the sections in their order.
func Names() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// Place returns where a section stands in the order; false for none of that name.
func Place(name string) (int, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	return i, i >= 0
}

// Section is one part of a report.
type Section struct {
	Name   string
	Counts []Count
	Rows   []Row
	// Limited tells that there are more rows than these, or that not all facts were
	// looked at.
	Limited bool
}

// Count is a figure of a section.
type Count struct {
	Name string
	N    int
}

// Row is a row of a section: a JSON object that is not closed yet.
type Row []byte

// MaxText is the most bytes of a text that a row shows.
const MaxText = 200

func (r Row) name(name string) Row {
	if r == nil {
		r = Row{'{'}
	} else {
		r = append(r, ',')
	}
	return append(jsonx.AppendString(r, name), ':')
}

// Text adds a text, cut where it is long.
func (r Row) Text(name, text string) Row { return jsonx.AppendString(r.name(name), Cut(text)) }

// Optional adds a text, or null.
func (r Row) Optional(name string, text *string) Row {
	if text == nil {
		return append(r.name(name), "null"...)
	}
	return r.Text(name, *text)
}

// Texts adds a list of texts.
func (r Row) Texts(name string, list []string) Row {
	cut := make([]string, len(list))
	for i := range list {
		cut[i] = Cut(list[i])
	}
	return jsonx.AppendStrings(r.name(name), cut)
}

// Int adds a number.
func (r Row) Int(name string, n uint64) Row { return strconv.AppendUint(r.name(name), n, 10) }

// Float adds a number.
func (r Row) Float(name string, n float64) Row { return jsonx.AppendFloat(r.name(name), n) }

// Time adds an instant.
func (r Row) Time(name string, t fact.Instant) Row { return jsonx.AppendInstant(r.name(name), t) }

// ID adds the id of a fact.
func (r Row) ID(name string, id fact.ID) Row { return jsonx.AppendID(r.name(name), id) }

// IDs adds the ids of facts.
func (r Row) IDs(name string, ids []fact.ID) Row { return jsonx.AppendIDs(r.name(name), ids) }

// Object adds what a fact says, a text cut where it is long.
func (r Row) Object(name string, o fact.Object) Row {
	if o.Kind == fact.Text {
		return r.Text(name, o.Text)
	}
	return jsonx.AppendObject(r.name(name), o)
}

// Fact adds what a row tells of a fact.
func (r Row) Fact(f *fact.Fact) Row {
	r = r.Text("subject", f.Subject).Text("predicate", f.Predicate).Object("object", f.Object)
	r = r.Float("confidence", f.Confidence).Optional("source", f.Source).Time("recorded_at", f.RecordedAt)
	return r.ID("id", f.ID).Int("tx", f.Tx)
}

// Cut shortens a text to what a row shows, at the end of a character.
func Cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	cut := MaxText
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}
