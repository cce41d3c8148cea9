package trigger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/ingest/trigger"
	"abagraph/internal/jsonx"
)

// Where clocks are set, a time of the day comes once: when the clock has jumped over
// it, or the first of two times; what comes at a pace keeps it. 29 February comes.
func TestSchedulesWhereClocksAreSet(t *testing.T) {
	for _, c := range []struct{ schedule, zone, from, want string }{
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", "28T01:30 29T01:00 30T00:30"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", "24T00:30 25T00:30 26T01:30"},
		{"0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "25T02:00 26T02:00"},
		{"*/20 2 * * *", "Europe/Berlin", "2026-03-28T20:00:00Z", "29T01:00 30T00:00 30T00:20"},
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "25T00:30 25T01:00 25T01:30 25T02:00"},
		{"@hourly", "Europe/Berlin", "2026-03-29T00:10:00Z", "29T01:00 29T02:00"},
		{"@daily", "Africa/Cairo", "2026-04-22T23:00:00Z", "23T22:00 24T21:00"},
		{"15,45 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", "01T05:15 01T05:45 02T06:15"},
		{"30 2 * * *", "", "2026-03-28T12:00:00Z", "29T02:30 30T02:30"},
		{"0 0 29 2 *", "", "2026-03-01T00:00:00Z", "29T00:00 29T00:00"},
		{"@every 90m", "Europe/Berlin", "2026-03-29T00:00:00Z", "29T01:30 29T03:00"},
	} {
		v, err := jsonx.Parse([]byte(fmt.Sprintf(`{"name":"t","connector":"c","schedule":%q,"timezone":%q}`, c.schedule, c.zone)))
		if err != nil {
			t.Fatal(err)
		}
		one, err := trigger.Read(v)
		if err != nil {
			t.Fatalf("%s: %v", c.schedule, err)
		}
		start, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		at, got := fact.Instant(start.UnixMilli()), []string(nil)
		for range strings.Fields(c.want) {
			at = one.Next(at)
			got = append(got, at.Time().UTC().Format("02T15:04"))
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s in %q after %s: %s, want %s", c.schedule, c.zone, c.from, all, c.want)
		}
	}
}
