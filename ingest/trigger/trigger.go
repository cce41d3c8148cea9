package trigger

import (
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
	"abagraph/internal/schedule"
)

// Bounds of the time between two looks for changes, in seconds.
const (
	MinEverySecs = 5
	MaxEverySecs = 86_400
)

// Trigger says when a connector is pulled.
type Trigger struct {
	// Name is the slug, Given the name as it was written.
	Name      string
	Given     string
	Connector string
	// Schedule is a cron expression, read in Zone; "" = there is none, and Every says
	// how often a look for changes is taken.
	Schedule string
	Zone     string
	Every    time.Duration
	Paused   bool

	schedule *schedule.Schedule
	fact     fact.Fact // that tells it
}

// Tenant is whose the trigger is.
func (t *Trigger) Tenant() string { return t.fact.Tenant }

// Kind is schedule or change.
func (t *Trigger) Kind() string {
	if t.Schedule != "" {
		return "schedule"
	}
	return "change"
}

// Read reads a trigger as it is declared or kept. The fields that every body may carry
// have been read by others.
func Read(v jsonx.Value) (*Trigger, error) {
	f := jsonx.Open(v, "")
	f.Ignore("branch")
	f.Ignore("tenant")
	t := &Trigger{Given: f.Required("name"), Connector: f.Required("connector")}
	if f.Err() == nil {
		var err error
		if t.Name, err = connect.Slug(t.Given); err != nil {
			f.Fail(err)
		}
		if t.Connector, err = connect.Slug(t.Connector); err != nil {
			f.Fail(fact.Invalid("connector", "is no name of a connector"))
		}
	}
	t.Schedule, _ = f.Text("schedule")
	t.Zone, _ = f.Text("timezone")
	every, given := f.Integer("every_secs", MinEverySecs, MaxEverySecs)
	t.Every = time.Duration(every) * time.Second
	t.Paused = f.Flag("paused")
	if err := f.Done(); err != nil {
		return nil, err
	}
	switch {
	case t.Schedule == "" && !given:
		return nil, fact.Invalid("schedule", "is required, or every_secs for a source that tells what has changed")
	case t.Schedule != "" && given:
		return nil, fact.Invalid("every_secs", "cannot be given beside schedule")
	case t.Schedule == "" && t.Zone != "":
		return nil, fact.Invalid("timezone", "is for a schedule")
	case t.Schedule == "":
		return t, nil
	}
	var err error
	t.schedule, err = schedule.Parse(t.Schedule, t.Zone)
	return t, err
}

// Next returns the first time of the schedule after a time; NoInstant for a trigger
// without one.
func (t *Trigger) Next(after fact.Instant) fact.Instant { return t.schedule.Next(after) }

// Append writes a trigger as it is kept, without the closing brace: Read reads it
// again.
func (t *Trigger) Append(b []byte) []byte { return t.append(b, t.Given) }

// AppendShown is Append under the name that the trigger goes by.
func (t *Trigger) AppendShown(b []byte) []byte { return t.append(b, t.Name) }

func (t *Trigger) append(b []byte, name string) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), name)
	b = jsonx.AppendString(append(b, `,"connector":`...), t.Connector)
	if t.Schedule != "" {
		b = jsonx.AppendString(append(b, `,"schedule":`...), t.Schedule)
	}
	if t.Zone != "" {
		b = jsonx.AppendString(append(b, `,"timezone":`...), t.Zone)
	}
	if t.Every > 0 {
		b = strconv.AppendInt(append(b, `,"every_secs":`...), int64(t.Every/time.Second), 10)
	}
	return jsonx.AppendBool(append(b, `,"paused":`...), t.Paused)
}
