package connect

import (
	"context"
	"errors"
	"time"

	"abagraph/fact"
	"abagraph/memory"
)

// writer writes batches one after another beside the cutting of the next one.
type writer struct {
	memory *memory.Service
	ctx    context.Context
	caller memory.Caller
	o      memory.WriteOptions
	k      *Connector
	d      *Delivery
	r      *Receipt

	queue chan *batch
	done  chan struct{}
	n     int
	err   error // why the writing ended; to be read after done is closed
}

func (s *Service) startWriter(ctx context.Context, c memory.Caller, o memory.WriteOptions, k *Connector, d *Delivery, r *Receipt) *writer {
	if c == Internal(c.Tenant) {
		c = c.Deputy("connector/" + k.Name)
	}
	o.Idem = nil // each batch has a name of its own
	w := &writer{memory: s.memory, ctx: ctx, caller: c, o: o, k: k, d: d, r: r, queue: make(chan *batch, 1), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	for b := range w.queue {
		if w.err = w.write(b); w.err != nil {
			return
		}
	}
}

// send hands a batch over. It fails where the writing has ended.
func (w *writer) send(b *batch) error {
	if len(b.rows) == 0 {
		return nil
	}
	select {
	case w.queue <- b:
		return nil
	case <-w.done:
		return w.err
	}
}

// finish waits until everything that was handed over is written.
func (w *writer) finish() error {
	close(w.queue)
	<-w.done
	return w.err
}

func (w *writer) write(b *batch) error {
	w.n++
	var whole []row
	for _, r := range b.rows {
		w.r.Records++
		if r.err != nil {
			w.r.problem(r.line, r.err)
			continue
		}
		whole = append(whole, r)
	}
	w.r.Ignored += b.ignored
	w.r.suspect(b.suspect, b.suspicion)
	return w.rows(b, whole, partName(w.n))
}

// rows writes rows in one tx. Where they are refused for what one of them says, they
// are written in halves, until that one stands alone.
func (w *writer) rows(b *batch, rows []row, name string) error {
	if len(rows) == 0 {
		return nil
	}
	part := b.part(rows)
	o := w.o
	o.Idem = w.d.key(w.k.Name, name, part)
	result, err := w.patiently(o, part)
	switch code := fact.CodeOf(err); {
	case err == nil:
		w.count(result)
		return nil
	case code != fact.SchemaInvalid && code != fact.Conflict && code != fact.TooLarge, usedKey(err):
		return err
	case len(rows) == 1:
		w.r.problem(rows[0].line, err)
		return nil
	}
	half := len(rows) / 2
	if err := w.rows(b, rows[:half], name+"a"); err != nil {
		return err
	}
	return w.rows(b, rows[half:], name+"b")
}

// usedKey reports whether the delivery's name was that of another delivery, which is
// no fault of any record (C-31).
func usedKey(err error) bool {
	var e *fact.Error
	return errors.As(err, &e) && e.Code == fact.Conflict && e.Field == fact.IdempotencyField
}

// How long a batch waits for its turn where the tenant, or the node, has too much to
// do: a delivery is slowed down rather than cut off.
const (
	firstWait = 50 * time.Millisecond
	mostWait  = 2 * time.Second
	maxWaits  = 20
)

// patiently writes a batch, and again for as long as there is too much to do.
func (w *writer) patiently(o memory.WriteOptions, part *batch) (*fact.Result, error) {
	wait := firstWait
	for n := 0; ; n++ {
		result, err := w.memory.Transact(w.ctx, w.caller, o, &fact.Write{Guards: w.d.guards, Asserts: part.asserts}, nil)
		if fact.CodeOf(err) != fact.RateLimited || n == maxWaits {
			return result, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.ctx.Done():
			timer.Stop()
			return result, err
		}
		wait = min(2*wait, mostWait)
	}
}

func (w *writer) count(result *fact.Result) {
	r := w.r
	for i := range result.Asserts {
		a := &result.Asserts[i]
		switch {
		case a.Duplicate:
			r.Duplicates++
		case a.Fact.Status == fact.Candidate:
			r.Held++
		default:
			r.Asserted++
		}
		r.Superseded += len(a.Superseded)
	}
	r.Masked += result.Masked
	r.Tx = result.Tx
	r.Batches++
}
