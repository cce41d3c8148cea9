package ops

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// A backup keeps to its rate: after each piece it waits until as much time has gone
// by as the rate asks for what has come so far.
func TestBackupKeepsToItsRate(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	var waits []time.Duration
	w := &watched{
		ctx: t.Context(), from: strings.NewReader(strings.Repeat("x", 100)), rate: 10, began: began, alarm: time.NewTimer(time.Hour),
		wait: func(_ context.Context, at time.Time) { waits = append(waits, at.Sub(began)) },
	}
	piece := make([]byte, 40)
	for {
		if _, err := w.Read(piece); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	want := []time.Duration{4 * time.Second, 8 * time.Second, 10 * time.Second}
	if len(waits) != len(want) || waits[0] != want[0] || waits[1] != want[1] || waits[2] != want[2] {
		t.Errorf("it waits until %v, not %v", waits, want)
	}
}
