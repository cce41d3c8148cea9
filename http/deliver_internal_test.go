package http

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// deadlines is an answer's writer that remembers how long a read may take.
type deadlines struct {
	http.ResponseWriter
	read time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = t
	return nil
}

// TestSlowDeliveries: a delivery may come for as long as it likes, but for a minute of
// waiting not slower than a kilobyte a second.
func TestSlowDeliveries(t *testing.T) {
	for name, c := range map[string]struct {
		read   int64
		waited time.Duration
		most   time.Duration // that the next piece is waited for
	}{
		"the first":            {0, 0, time.Minute},
		"almost nothing came":  {3, 59 * time.Second, time.Second},
		"too slow":             {30 << 10, 2 * time.Minute, -30 * time.Second},
		"slow enough":          {90 << 10, 2 * time.Minute, 30 * time.Second},
		"sixteen GiB in a day": {16 << 30, 24 * time.Hour, time.Minute},
	} {
		w := &deadlines{}
		r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		p := &untilQuiet{c: &call{w: w, r: r}, read: c.read, waited: c.waited}
		before := time.Now()
		if n, err := p.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		earliest, latest := before.Add(c.most), time.Now().Add(c.most)
		if w.read.Before(earliest) || w.read.After(latest) {
			t.Errorf("%s: until %v, not between %v and %v", name, w.read, earliest, latest)
		}
	}
}
