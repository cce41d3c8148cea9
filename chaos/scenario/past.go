package scenario

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"abagraph/client"
	"abagraph/fact"
)

// asked is one read of one register or line with its answer. AsOf and KnownAt are
// fact.NoInstant, and At 0, where they were not asked for.
type asked struct {
	Node, Subject string
	Tx            uint64 // that the answer says it was read at
	At            uint64 // the tx that was asked for
	AsOf, KnownAt fact.Instant
	dated         bool // AsOf or KnownAt was given
	Values        []string
}

// past is every read that was answered.
type past struct {
	mu    sync.Mutex
	reads []asked
}

func (p *past) add(a asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads = append(p.reads, a)
}

// recall reads a register as it was: at a tx, at a time, or as one node has it now.
func (w *worker) recall() {
	node := w.someNode()
	a := asked{Node: w.Nodes[node].Name, Subject: register(w.rng.IntN(registerCount)), AsOf: fact.NoInstant, KnownAt: fact.NoInstant}
	q := client.FactQuery{Subject: a.Subject, Predicate: registerIs}
	kind := "read-past"
	newest := w.tx.get()
	switch w.rng.IntN(5) {
	case 0, 1:
		a.At = 1 + w.rng.Uint64N(newest)
		q.Tx = strconv.FormatUint(a.At, 10)
	case 2:
		a.At = 1 + w.rng.Uint64N(newest)
		a.AsOf, a.dated = w.someTime(), true
		q.Tx, q.AsOf = strconv.FormatUint(a.At, 10), client.At(a.AsOf)
	case 3:
		a.KnownAt, a.dated = w.someTime(), true
		q.KnownAt = client.At(a.KnownAt)
	default:
		kind = "read-stale"
		q.Consistency = "stale"
	}
	if a.At > 0 && w.rng.IntN(2) == 0 {
		q.Consistency, q.MinTx = "stale", a.At
	}
	_ = w.once(kind, node, func(ctx context.Context, c *client.Client) error {
		list, err := c.Facts(ctx, q)
		if err != nil {
			w.wrongRefusal(a, err)
			return err
		}
		a.Tx, a.Values = list.Meta.Tx, valuesOf(list)
		w.past.add(a)
		return nil
	})
}

// wrongRefusal: a past that the store has told of is never refused as unknown.
func (w *worker) wrongRefusal(a asked, err error) {
	if status := client.StatusOf(err); status >= 400 && status < 429 {
		w.violate("past", "a read of %s at tx %d on %s: %v", a.Subject, a.At, a.Node, err)
	}
}

// someTime is a time at which a register was written, or one between.
func (w *worker) someTime() fact.Instant {
	return w.recorded.some(w.rng.Int64N)
}

// recordTimes is the span of record times that answers have told.
type recordTimes struct {
	mu          sync.Mutex
	first, last fact.Instant
}

func (t *recordTimes) note(at fact.Instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == 0 || at < t.first {
		t.first = at
	}
	t.last = max(t.last, at)
}

func (t *recordTimes) some(random func(int64) int64) fact.Instant {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first + fact.Instant(random(int64(t.last-t.first)+1))
}

// value is one value of a register, as the history tells it.
type value struct {
	tx       uint64
	recorded fact.Instant
	text     string
}

// wroteIn reads from the history what each subject was told, in the order of txs.
func wroteIn(events []client.Event) map[string][]value {
	all := make(map[string][]value)
	for _, e := range events {
		if e.Op == "assert" {
			all[e.Fact.Subject] = append(all[e.Fact.Subject], value{e.Tx, e.Fact.RecordedAt, e.Fact.Object.Text})
		}
	}
	return all
}

// heldThen is what a read of a register must answer: the last value at or before the
// tx and the times that it asked for. Values follow each other, so that each one
// began to hold when it was recorded.
func (a *asked) heldThen(values []value) (text string, held bool) {
	tx := a.Tx
	if a.At > 0 {
		tx = a.At
	}
	at := len(values)
	for at > 0 {
		v := values[at-1]
		if v.tx <= tx && (!a.dated || v.recorded <= max(a.AsOf, a.KnownAt)) {
			return v.text, true
		}
		at--
	}
	return "", false
}

// judgePast holds every read to the history.
func (r *run) judgePast(registers, lines []client.Event) {
	written := wroteIn(registers)
	events := linesIn(lines)
	for _, a := range r.past.reads {
		r.check("past", 1)
		var want []string
		if values, known := written[a.Subject]; known {
			if text, held := a.heldThen(values); held {
				want = []string{text}
			}
		} else if text, held := heldOn(events[a.Subject], a.Tx, a.AsOf); held {
			want = []string{text}
		}
		if !slices.Equal(a.Values, want) {
			r.violate("past", "%s on %s, read at tx %d (asked for tx %d, as of %d, known at %d), was answered %v; the history says %v",
				a.Subject, a.Node, a.Tx, a.At, a.AsOf, a.KnownAt, a.Values, want)
		}
	}
}
