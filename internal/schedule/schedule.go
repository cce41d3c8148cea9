package schedule

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // every node knows the same zones

	"abagraph/fact"

	"github.com/robfig/cron/v3"
)

const (
	// maxBytes bounds an expression.
	maxBytes = 256
	// minEvery is the shortest time between two times, in seconds.
	minEvery = 5
	// maxMissed bounds how many missed times are gone through.
	maxMissed = 10_000
)

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Schedule is when something is due.
type Schedule struct {
	times   cron.Schedule
	byClock bool // it comes at hours that it names
	place   *time.Location
}

// Parse reads an expression and the zone it is meant in, "" = UTC. It refuses what
// cannot be read and what never comes; its errors name the fields schedule and
// timezone.
func Parse(expression, zone string) (*Schedule, error) {
	if len(expression) > maxBytes {
		return nil, fact.Invalid("schedule", "is longer than "+strconv.Itoa(maxBytes)+" bytes")
	}
	if strings.Contains(strings.ToUpper(expression), "TZ=") {
		return nil, fact.Invalid("schedule", "names a zone: give it as timezone")
	}
	s := &Schedule{place: time.UTC}
	var err error
	if zone != "" {
		if s.place, err = time.LoadLocation(zone); err != nil || zone == "Local" {
			return nil, fact.Invalid("timezone", "is not known: it must be a name such as Europe/Berlin")
		}
	}
	if s.times, err = parser.Parse(expression); err != nil {
		return nil, fact.Invalid("schedule", "is no cron expression of five fields (minute, hour, day, month, weekday) and none such as @hourly or @every 15m: "+err.Error())
	}
	s.byClock = byTheClock(expression)
	if s.Faster(minEvery * time.Second) {
		return nil, fact.Invalid("schedule", "comes more often than each "+strconv.Itoa(minEvery)+" seconds")
	}
	if next := s.times.Next(time.Unix(0, 0).In(s.place)); next.IsZero() {
		return nil, fact.Invalid("schedule", "never comes")
	}
	return s, nil
}

// Faster tells of a schedule that keeps a pace, such as @every 15s, that its times are
// closer to each other than that; all others are at least a minute apart.
func (s *Schedule) Faster(than time.Duration) bool {
	if s == nil {
		return false
	}
	every, ok := s.times.(cron.ConstantDelaySchedule)
	return ok && every.Delay < than
}

// Next returns the first time after a time; NoInstant for none, and of a nil Schedule.
func (s *Schedule) Next(after fact.Instant) fact.Instant {
	if s == nil {
		return fact.NoInstant
	}
	next := s.next(after.Time().In(s.place))
	if next.IsZero() {
		return fact.NoInstant
	}
	return fact.Instant(next.UnixMilli())
}

// Due returns the last time after one time and up to another, and whether there is
// any: what was missed in between is one run.
func (s *Schedule) Due(after, now fact.Instant) (fact.Instant, bool) {
	last, found := fact.NoInstant, false
	for range maxMissed {
		next := s.Next(after)
		if !next.Given() || next > now {
			return last, found
		}
		last, after, found = next, next, true
	}
	return now, true // so many were missed that it is now, whatever the last one was
}
