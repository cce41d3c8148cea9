package events

import (
	"context"
	"log/slog"
	"sort"
	"sync"
	"time"
)

// The bounds of what a Window keeps.
const (
	recentEvents = 40
	knownNames   = 512
	minutesOfDay = 24 * 60
)

// OtherName counts the events whose names came after the window had too many.
const OtherName = "other"

// Window counts events since the process started. It is safe for concurrent
// use.
type Window struct {
	now   func() time.Time
	start time.Time

	mu      sync.Mutex
	total   uint64
	errors  uint64
	last    time.Time
	byName  map[string]uint64
	recent  [recentEvents]recentEvent
	minutes [minutesOfDay]minuteCount
}

type recentEvent struct {
	name  string
	level slog.Level
	at    time.Time
}

type minuteCount struct {
	minute int64 // since the Unix epoch
	count  uint64
}

// NewWindow starts a window; nil means the real clock.
func NewWindow(now func() time.Time) *Window {
	if now == nil {
		now = time.Now
	}
	return &Window{now: now, start: now(), byName: make(map[string]uint64)}
}

// Snapshot is what the window holds.
type Snapshot struct {
	Uptime    time.Duration
	Total     uint64
	Errors    uint64
	Last24h   uint64
	Freshness time.Duration // since the last event; 0 without one
	ByEvent   []EventCount  // most frequent first, then by name
	Recent    []RecentEvent // newest first
}

// EventCount counts the events of one name.
type EventCount struct {
	Event string
	Count uint64
}

// RecentEvent is one of the newest events.
type RecentEvent struct {
	Event string
	Level string
	Age   time.Duration
}

// Observe counts one event.
func (w *Window) Observe(name string, level slog.Level) {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent[w.total%recentEvents] = recentEvent{name: name, level: level, at: now}
	w.total++
	if level >= slog.LevelError {
		w.errors++
	}
	w.last = now
	if _, known := w.byName[name]; !known && len(w.byName) >= knownNames {
		name = OtherName
	}
	w.byName[name]++
	minute := now.Unix() / 60
	slot := &w.minutes[minute%minutesOfDay]
	if slot.minute != minute {
		*slot = minuteCount{minute: minute}
	}
	slot.count++
}

// Snapshot returns the counts as they are now.
func (w *Window) Snapshot() Snapshot {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Snapshot{Uptime: now.Sub(w.start), Total: w.total, Errors: w.errors}
	if w.total > 0 {
		s.Freshness = now.Sub(w.last)
	}
	minute := now.Unix() / 60
	for i := range w.minutes {
		if minute-w.minutes[i].minute < minutesOfDay {
			s.Last24h += w.minutes[i].count
		}
	}
	for name, count := range w.byName {
		s.ByEvent = append(s.ByEvent, EventCount{Event: name, Count: count})
	}
	sort.Slice(s.ByEvent, func(i, j int) bool {
		a, b := s.ByEvent[i], s.ByEvent[j]
		return a.Count > b.Count || a.Count == b.Count && a.Event < b.Event
	})
	for n := range min(w.total, recentEvents) {
		e := w.recent[(w.total-1-n)%recentEvents]
		s.Recent = append(s.Recent, RecentEvent{Event: e.name, Level: LevelName(e.level), Age: now.Sub(e.at)})
	}
	return s
}

// Handler counts each record on its way to another handler: all from info on, whatever
// the other one writes, so that the window is the same for every level of the log.
func (w *Window) Handler(next slog.Handler) slog.Handler { return &counting{window: w, next: next} }

type counting struct {
	window *Window
	next   slog.Handler
}

func (c *counting) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || c.next.Enabled(ctx, level)
}

func (c *counting) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		c.window.Observe(r.Message, r.Level)
	}
	if !c.next.Enabled(ctx, r.Level) {
		return nil
	}
	return c.next.Handle(ctx, r)
}

func (c *counting) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &counting{window: c.window, next: c.next.WithAttrs(attrs)}
}

func (c *counting) WithGroup(name string) slog.Handler {
	return &counting{window: c.window, next: c.next.WithGroup(name)}
}
