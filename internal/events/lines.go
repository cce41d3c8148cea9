package events

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"abagraph/internal/jsonx"
)

// Lines is a slog.Handler that writes one JSON object a line.
type Lines struct {
	out    *output
	level  slog.Leveler
	prefix string // of the groups that are open, with a dot at its end
	fields []byte // of the attributes that are bound
}

// output is shared by all handlers derived from one.
type output struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewLines writes to w what is at the level or above; nil means info.
func NewLines(w io.Writer, level slog.Leveler) *Lines {
	if level == nil {
		level = slog.LevelInfo
	}
	return &Lines{out: &output{w: w}, level: level}
}

// Enabled reports whether records of a level are written.
func (l *Lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level.Level() }

// Handle writes one record. The record's message is the event's name.
func (l *Lines) Handle(_ context.Context, r slog.Record) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	b := append(l.out.buf[:0], `{"ts":"`...)
	b = r.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, `","level":"`...)
	b = append(b, LevelName(r.Level)...)
	b = append(b, `","event":`...)
	b = jsonx.AppendString(b, r.Message)
	b = append(b, l.fields...)
	r.Attrs(func(a slog.Attr) bool {
		b = appendAttr(b, l.prefix, a)
		return true
	})
	b = append(b, '}', '\n')
	l.out.buf = b
	_, err := l.out.w.Write(b)
	return err
}

// WithAttrs returns a handler that adds attributes to each line.
func (l *Lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *l
	next.fields = append([]byte(nil), l.fields...)
	for _, a := range attrs {
		next.fields = appendAttr(next.fields, l.prefix, a)
	}
	return &next
}

// WithGroup returns a handler that puts a name and a dot before the names of
// the attributes to come: lines stay flat.
func (l *Lines) WithGroup(name string) slog.Handler {
	next := *l
	if name != "" {
		next.prefix += name + "."
	}
	return &next
}

// LevelName returns the word that lines carry.
func LevelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warn"
	case level >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

func appendAttr(b []byte, prefix string, a slog.Attr) []byte {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range v.Group() {
			b = appendAttr(b, prefix, inner)
		}
		return b
	}
	if a.Key == "" {
		return b
	}
	key := prefix + a.Key
	switch key {
	case "ts", "level", "event": // the envelope's own
		key = "field." + key
	}
	b = append(jsonx.AppendString(append(b, ','), key), ':')
	return appendValue(b, v)
}

func appendValue(b []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case slog.KindFloat64:
		return jsonx.AppendFloat(b, v.Float64())
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool())
	case slog.KindTime:
		return jsonx.AppendString(b, v.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	case slog.KindDuration:
		return jsonx.AppendFloat(b, float64(v.Duration())/float64(time.Millisecond))
	}
	return jsonx.AppendString(b, v.String())
}
