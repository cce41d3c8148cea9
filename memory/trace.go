package memory

import (
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Trace measures one request for explain=1 (C-27). A nil Trace measures nothing,
// so that callers need not ask. It is not safe for concurrent use.
type Trace struct {
	Op    string
	Plan  string
	start time.Time
	last  time.Time
	stats []byte
	steps []byte
	// veiled leaves out what counts facts that the caller may not see.
	veiled bool
	// whole is the trace whose steps a part adds to; nil of the whole itself.
	whole *Trace
}

// Part returns a trace for what a request does on its way to what it was asked
// for: its steps count, its name and its stats would be taken for the request's.
func (t *Trace) Part() *Trace {
	if t == nil {
		return nil
	}
	return &Trace{whole: t}
}

// told reports whether name and stats go into the answer.
func (t *Trace) told() bool { return t != nil && t.whole == nil }

// unseen are the stats that count what was looked at, or stood there, whoever may
// see it: under a policy they would tell whether something hidden is there.
var unseen = map[string]bool{
	"candidates_scanned": true, "corpus": true, "vectors_compared": true, "vectors_missing": true,
	"active_before": true, "active_after": true, "active_delta": true,
}

// veil leaves such stats out from now on.
func (t *Trace) veil(sight *fact.Sight) {
	if t != nil && sight != nil {
		t.veiled = true
	}
}

// NewTrace starts to measure.
func NewTrace() *Trace {
	now := time.Now()
	return &Trace{start: now, last: now}
}

// Name says what was done and by what plan.
func (t *Trace) Name(op, plan string) {
	if t.told() {
		t.Op, t.Plan = op, plan
	}
}

// Step ends a phase that began where the last one ended.
func (t *Trace) Step(phase, detail string) {
	if t == nil {
		return
	}
	if t.whole != nil {
		t.whole.Step(phase, detail)
		return
	}
	now := time.Now()
	t.steps = separate(t.steps)
	t.steps = append(t.steps, `{"phase":`...)
	t.steps = jsonx.AppendString(t.steps, phase)
	t.steps = append(t.steps, `,"ms":`...)
	t.steps = appendMillis(t.steps, now.Sub(t.last))
	if detail != "" {
		t.steps = append(t.steps, `,"detail":`...)
		t.steps = jsonx.AppendString(t.steps, detail)
	}
	t.steps = append(t.steps, '}')
	t.last = now
}

// Int adds a count to the stats.
func (t *Trace) Int(name string, n int) {
	if t.told() && !(t.veiled && unseen[name]) {
		t.stats = strconv.AppendInt(t.stat(name), int64(n), 10)
	}
}

// Text adds a word to the stats.
func (t *Trace) Text(name, value string) {
	if t.told() {
		t.stats = jsonx.AppendString(t.stat(name), value)
	}
}

// Bool adds a yes or no to the stats.
func (t *Trace) Bool(name string, value bool) {
	if t.told() {
		t.stats = strconv.AppendBool(t.stat(name), value)
	}
}

func (t *Trace) stat(name string) []byte {
	return append(jsonx.AppendString(separate(t.stats), name), ':')
}

// Append ends the measurement and appends the explain object.
func (t *Trace) Append(dst []byte) []byte {
	dst = append(dst, `{"op":`...)
	dst = jsonx.AppendString(dst, t.Op)
	dst = append(dst, `,"plan":`...)
	dst = jsonx.AppendString(dst, t.Plan)
	dst = append(append(dst, `,"stats":{`...), t.stats...)
	dst = append(append(dst, `},"steps":[`...), t.steps...)
	dst = append(dst, `],"total_ms":`...)
	return append(appendMillis(dst, time.Since(t.start)), '}')
}

func separate(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendMillis(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, float64(d.Microseconds())/1000, 'f', -1, 64)
}
