package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"abagraph/client"
	"abagraph/fact"
)

const (
	lineCount = 4
	lineIs    = "was"
)

// times are timelines: what is told of them has its own dates, comes in any order, and
// more than once. At each instant what began last holds (C-13).
type times struct {
	mu   sync.Mutex
	told []dated // what was acknowledged
	used map[int64]bool
}

// dated is one statement with the time it starts.
type dated struct {
	subject string
	start   fact.Instant
	text    string
	tx      uint64
}

func lineText(start fact.Instant) string { return "at-" + strconv.FormatInt(int64(start), 10) }

// timeline tells one event, old or new, or reads what held at some time.
func (w *worker) timeline() {
	if w.rng.IntN(2) == 0 {
		w.lookBack()
		return
	}
	d := w.someEvent()
	a := client.Assert{Subject: d.subject, Predicate: lineIs, Object: fact.TextObject(d.text), ValidFrom: client.At(d.start)}
	key := fmt.Sprintf("%s-%d", d.text, w.since())
	err := w.until("dated", w.someNode(), func(ctx context.Context, c *client.Client) error {
		got, err := c.Assert(ctx, a, client.Write{IdempotencyKey: key})
		if err == nil {
			d.tx = got.Tx
			w.tx.note(got.Tx)
			w.recorded.note(got.Fact.RecordedAt)
		}
		return err
	})
	if err != nil {
		if w.ctx.Err() == nil {
			w.violate("times", "telling of %s at %d: %v", d.subject, d.start, err)
		}
		return
	}
	w.times.mu.Lock()
	defer w.times.mu.Unlock()
	w.times.told = append(w.times.told, d)
}

// someEvent is a new event, with a start that no other has, or one that was told.
func (w *worker) someEvent() dated {
	t := &w.times
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.told) > 0 && w.rng.IntN(4) == 0 {
		return t.told[w.rng.IntN(len(t.told))]
	}
	if t.used == nil {
		t.used = make(map[int64]bool)
	}
	for {
		start := firstDay + w.rng.Int64N(manyDays)
		if !t.used[start] {
			t.used[start] = true
			line := "Line:" + strconv.Itoa(w.rng.IntN(lineCount))
			return dated{subject: line, start: fact.Instant(start), text: lineText(fact.Instant(start))}
		}
	}
}

// The events lie in twenty years from 2000 on, in milliseconds.
const (
	firstDay = 946_684_800_000
	manyDays = 20 * 365 * 86_400_000
)

func (w *worker) lookBack() {
	node := w.someNode()
	a := asked{Node: w.Nodes[node].Name, Subject: "Line:" + strconv.Itoa(w.rng.IntN(lineCount)), dated: true, KnownAt: fact.NoInstant}
	a.AsOf = fact.Instant(firstDay + w.rng.Int64N(manyDays))
	_ = w.once("read-as-of", node, func(ctx context.Context, c *client.Client) error {
		list, err := c.Facts(ctx, client.FactQuery{Subject: a.Subject, Predicate: lineIs, Read: client.Read{AsOf: client.At(a.AsOf)}})
		if err != nil {
			w.wrongRefusal(a, err)
			return err
		}
		a.Tx, a.Values = list.Meta.Tx, valuesOf(list)
		w.past.add(a)
		return nil
	})
}

// linesIn reads from the history which events each line has, with the tx in which
// each was told first.
func linesIn(events []client.Event) map[string][]dated {
	all := make(map[string][]dated)
	seen := make(map[string]bool)
	for _, e := range events {
		text := e.Fact.Object.Text
		start, err := strconv.ParseInt(strings.TrimPrefix(text, "at-"), 10, 64)
		if e.Op != "assert" || err != nil || seen[text] {
			continue
		}
		seen[text] = true
		all[e.Fact.Subject] = append(all[e.Fact.Subject], dated{e.Fact.Subject, fact.Instant(start), text, e.Tx})
	}
	return all
}

// heldOn is what held at a time, as far as the store knew at a tx: what began last.
func heldOn(events []dated, tx uint64, at fact.Instant) (text string, held bool) {
	best := fact.NoInstant
	for _, e := range events {
		if e.tx <= tx && e.start <= at && (!held || e.start > best) {
			best, text, held = e.start, e.text, true
		}
	}
	return text, held
}

// judgeTimes wants each event that was acknowledged to be there, at the tx or before.
func (r *run) judgeTimes(events []client.Event) {
	there := linesIn(events)
	for _, d := range r.times.told {
		r.check("times", 1)
		at := slices.IndexFunc(there[d.subject], func(e dated) bool { return e.text == d.text })
		if at < 0 || there[d.subject][at].tx > d.tx {
			r.violate("times", "%s was acknowledged for %s at tx %d and is not there", d.text, d.subject, d.tx)
		}
	}
}
