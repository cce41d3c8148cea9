package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"abagraph/internal/events"
)

func TestLinesAreFlatObjects(t *testing.T) {
	var out bytes.Buffer
	window := events.NewWindow(nil)
	logger := slog.New(window.Handler(events.NewLines(&out, nil)))
	logger.Debug("abagraph.quiet")
	logger.With("node", "n1").WithGroup("g").Warn("abagraph.auth.denied",
		"path", "/api/facts", "n", 3, "took", 1500*time.Microsecond, "ok", true, "level", "x", "err", errors.New("line\nbreak"),
		slog.Group("in", "deep", 1.5))
	logger.Error("abagraph.server.accept_error", "event", "mine")

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", got["ts"].(string)); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]any{
		"level": "warn", "event": "abagraph.auth.denied", "node": "n1", "g.path": "/api/facts", "g.n": 3.0, "g.took": 1.5,
		"g.ok": true, "g.level": "x", "g.err": "line\nbreak", "g.in.deep": 1.5,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if !strings.Contains(lines[1], `"event":"abagraph.server.accept_error","field.event":"mine"`) {
		t.Errorf("the envelope was overwritten: %s", lines[1])
	}
	s := window.Snapshot()
	if s.Total != 2 || s.Errors != 1 || s.Recent[0].Event != "abagraph.server.accept_error" || s.Recent[1].Level != "warn" {
		t.Errorf("snapshot %+v", s)
	}
}

// TestWindowCountsWhatIsNotWritten: the window tells of the node what happened, not of
// the log how much of it is written.
func TestWindowCountsWhatIsNotWritten(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelError} {
		var out bytes.Buffer
		window := events.NewWindow(nil)
		logger := slog.New(window.Handler(events.NewLines(&out, level))).With("node", "n1")
		logger.Debug("abagraph.raft")
		logger.Info("abagraph.digest")
		logger.Warn("abagraph.auth.denied")
		logger.Error("abagraph.server.error")
		if s := window.Snapshot(); s.Total != 3 || s.Errors != 1 || len(s.Recent) != 3 || s.Recent[2].Level != "info" {
			t.Errorf("at %v the window is %+v", level, s)
		}
		if want := map[slog.Level]int{slog.LevelDebug: 4, slog.LevelInfo: 3, slog.LevelError: 1}[level]; strings.Count(out.String(), "\n") != want {
			t.Errorf("at %v is written %s", level, out.String())
		}
	}
}

func TestWindowIsBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	window := events.NewWindow(func() time.Time { return now })
	for i := range 2_000 {
		window.Observe(fmt.Sprintf("event.%d", i), slog.LevelInfo)
	}
	now = now.Add(25 * time.Hour)
	window.Observe("event.0", slog.LevelInfo)
	s := window.Snapshot()
	if s.Total != 2_001 || len(s.Recent) != 40 || len(s.ByEvent) > 513 || s.Last24h != 1 || s.Freshness != 0 {
		t.Errorf("total %d, recent %d, names %d, 24h %d", s.Total, len(s.Recent), len(s.ByEvent), s.Last24h)
	}
	if s.ByEvent[0].Event != events.OtherName || s.ByEvent[0].Count != 2_000-512 {
		t.Errorf("most frequent: %+v", s.ByEvent[0])
	}
}
