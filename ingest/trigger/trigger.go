package trigger

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // every node knows the same zones

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"

	"github.com/robfig/cron/v3"
)

// Bounds of the time between two looks for changes, in seconds.
const (
	MinEverySecs = 5
	MaxEverySecs = 86_400
)

// maxScheduleBytes bounds an expression.
const maxScheduleBytes = 256

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

	schedule cron.Schedule
	byClock  bool // it comes at hours that it names
	place    *time.Location
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

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

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
	return t, t.compile()
}

// compile reads the schedule, and refuses one that cannot be.
func (t *Trigger) compile() error {
	if len(t.Schedule) > maxScheduleBytes {
		return fact.Invalid("schedule", "is longer than "+strconv.Itoa(maxScheduleBytes)+" bytes")
	}
	if strings.Contains(strings.ToUpper(t.Schedule), "TZ=") {
		return fact.Invalid("schedule", "names a zone: give it as timezone")
	}
	t.place = time.UTC
	if t.Zone != "" {
		zone, err := time.LoadLocation(t.Zone)
		if err != nil || t.Zone == "Local" {
			return fact.Invalid("timezone", "is not known: it must be a name such as Europe/Berlin")
		}
		t.place = zone
	}
	var err error
	if t.schedule, err = parser.Parse(t.Schedule); err != nil {
		return fact.Invalid("schedule", "is no cron expression of five fields (minute, hour, day, month, weekday) and none such as @hourly or @every 15m: "+err.Error())
	}
	t.byClock = byTheClock(t.Schedule)
	if every, ok := t.schedule.(cron.ConstantDelaySchedule); ok && every.Delay < MinEverySecs*time.Second {
		return fact.Invalid("schedule", "comes more often than each "+strconv.Itoa(MinEverySecs)+" seconds")
	}
	if next := t.schedule.Next(time.Unix(0, 0).In(t.place)); next.IsZero() {
		return fact.Invalid("schedule", "never comes")
	}
	return nil
}

// Next returns the first time of the schedule after a time; NoInstant for a trigger
// without one.
func (t *Trigger) Next(after fact.Instant) fact.Instant {
	if t.schedule == nil {
		return fact.NoInstant
	}
	next := t.next(after.Time().In(t.place))
	if next.IsZero() {
		return fact.NoInstant
	}
	return fact.Instant(next.UnixMilli())
}

// Due returns the last time of the schedule after one time and up to another, and
// whether there is any: what was missed in between is one run.
func (t *Trigger) Due(after, now fact.Instant) (fact.Instant, bool) {
	last, found := fact.NoInstant, false
	for range maxMissed {
		next := t.Next(after)
		if !next.Given() || next > now {
			return last, found
		}
		last, after, found = next, next, true
	}
	return now, true // so many were missed that it is now, whatever the last one was
}

// maxMissed bounds how many missed times are gone through.
const maxMissed = 10_000

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
