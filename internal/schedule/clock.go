package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// byTheClock reports whether a schedule names the hours at which it comes, as one of
// every day or week does. Where clocks are set forward or back, such a time comes once:
// one that is skipped when the clock has jumped over it, one that comes twice the first
// time. What comes every hour, or every so many minutes, goes on at its pace.
func byTheClock(expression string) bool {
	fields := strings.Fields(expression)
	switch {
	case len(fields) == 5:
		return !strings.ContainsAny(fields[1], "*?/")
	case len(fields) == 1:
		return !strings.EqualFold(expression, "@hourly")
	}
	return false // @every
}

// maxSame bounds the times of a schedule that fall into the hour that comes twice.
const maxSame = 24 * 60

// next returns the first time of the schedule after another; zero = there is none.
func (s *Schedule) next(after time.Time) time.Time {
	spec, ok := s.times.(*cron.SpecSchedule)
	if !ok || !s.byClock {
		return s.times.Next(after)
	}
	// The schedule is read by a clock that is never set, and what it shows is looked up
	// on the one of the place.
	plain := *spec
	plain.Location = time.UTC
	shown := time.Date(after.Year(), after.Month(), after.Day(), after.Hour(), after.Minute(), after.Second(), 0, time.UTC)
	// A little earlier, for a time that was jumped over and is not run yet.
	shown = shown.Add(-jump)
	for range maxSame {
		if shown = plain.Next(shown); shown.IsZero() {
			return time.Time{}
		}
		if at := instantOf(shown, s.place); at.After(after) {
			return at
		}
	}
	return s.times.Next(after)
}

// jump is as much as a clock is ever set forward for the season.
const jump = 2 * time.Hour

// instantOf is when a clock of a place shows something: for the first time where it
// does twice, and where it never does, the moment at which it jumps over that.
func instantOf(shown time.Time, place *time.Location) time.Time {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, place)
	if at.Hour() != shown.Hour() || at.Minute() != shown.Minute() || at.Day() != shown.Day() {
		start, end := at.ZoneBounds()
		_, offset := at.Zone()
		if local := shown.Add(-time.Duration(offset) * time.Second); local.Before(start) {
			return start.In(place)
		}
		return end.In(place)
	}
	start, _ := at.ZoneBounds()
	if start.IsZero() {
		return at
	}
	_, offset := start.Add(-time.Second).In(place).Zone()
	if earlier := shown.Add(-time.Duration(offset) * time.Second); earlier.Before(start) {
		return earlier.In(place)
	}
	return at
}
