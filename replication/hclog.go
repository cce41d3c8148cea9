package replication

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// raftLogger passes the Raft library's messages on to slog, once, here. The
// library calls every failed attempt an error and every election a warning; both
// are daily life of a cluster, so that each is logged one level lower.
type raftLogger struct {
	hclog.Logger // the null logger, for the corners of the interface that nothing calls
	to           *slog.Logger
	name         string
	rate         *repeats
}

// raftEvent is the event that every message of the library becomes. Their texts
// are the library's own and without number; names of events are few.
const raftEvent = "abagraph.raft"

func newRaftLogger(to *slog.Logger) *raftLogger {
	return &raftLogger{Logger: hclog.NewNullLogger(), to: to, name: "raft", rate: &repeats{last: make(map[string]time.Time)}}
}

// repeats lets the same message pass once in a while only: an unreachable peer
// makes the library repeat itself many times a second.
type repeats struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	repeatEvery  = 10 * time.Second
	maxRemember  = 256
	quietMessage = slog.LevelDebug
)

func (r *repeats) pass(message string) bool {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.last[message]; ok && now.Sub(at) < repeatEvery {
		return false
	}
	if len(r.last) >= maxRemember {
		clear(r.last)
	}
	r.last[message] = now
	return true
}

func levelOf(l hclog.Level) slog.Level {
	switch l {
	case hclog.Error:
		return slog.LevelWarn
	case hclog.Warn:
		return slog.LevelInfo
	default:
		return quietMessage
	}
}

func (l *raftLogger) Log(level hclog.Level, message string, args ...any) {
	lv := levelOf(level)
	if !l.to.Enabled(context.Background(), lv) || (lv > quietMessage && !l.rate.pass(message)) {
		return
	}
	for i, a := range args {
		if f, ok := a.(hclog.Format); ok && len(f) > 0 {
			if format, ok := f[0].(string); ok {
				args[i] = fmt.Sprintf(format, f[1:]...)
			}
		}
	}
	l.to.Log(context.Background(), lv, raftEvent, append([]any{"message", message}, args...)...)
}

func (l *raftLogger) Trace(message string, args ...any) { l.Log(hclog.Trace, message, args...) }
func (l *raftLogger) Debug(message string, args ...any) { l.Log(hclog.Debug, message, args...) }
func (l *raftLogger) Info(message string, args ...any)  { l.Log(hclog.Info, message, args...) }
func (l *raftLogger) Warn(message string, args ...any)  { l.Log(hclog.Warn, message, args...) }
func (l *raftLogger) Error(message string, args ...any) { l.Log(hclog.Error, message, args...) }

func (l *raftLogger) IsTrace() bool { return false }
func (l *raftLogger) IsDebug() bool { return l.to.Enabled(context.Background(), slog.LevelDebug) }
func (l *raftLogger) IsInfo() bool  { return l.IsDebug() }
func (l *raftLogger) IsWarn() bool  { return true }
func (l *raftLogger) IsError() bool { return true }

func (l *raftLogger) With(args ...any) hclog.Logger {
	return &raftLogger{Logger: l.Logger, to: l.to.With(args...), name: l.name, rate: l.rate}
}

func (l *raftLogger) Name() string { return l.name }

func (l *raftLogger) Named(name string) hclog.Logger {
	return &raftLogger{Logger: l.Logger, to: l.to, name: l.name + "." + name, rate: l.rate}
}

func (l *raftLogger) ResetNamed(name string) hclog.Logger {
	return &raftLogger{Logger: l.Logger, to: l.to, name: name, rate: l.rate}
}
