package imports

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"abagraph/client"
	"abagraph/fact"
)

// item is one event with what it takes to write it.
type item struct {
	event  int
	row    uint32
	step   step
	at     fact.Instant
	assert client.Assert
	id     string // what a retraction retracts
}

// sender writes batches.
type sender struct {
	writer  Writer
	options *Options
	key     string // of the import: each batch adds its place
	told    told
}

// told are the facts that answers have told of as new. A batch that changes nothing
// answers the tx at which it was judged, which may be the one in which another batch
// of this import has just written the very fact.
type told struct {
	mu  sync.Mutex
	txs map[uint64]map[string]bool
}

const rememberedTxs = 64

// first reports whether a fact of a tx is told for the first time.
func (d *told) first(tx uint64, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := d.txs[tx]
	if ids == nil {
		if d.txs == nil {
			d.txs = map[uint64]map[string]bool{}
		}
		ids = map[string]bool{}
		d.txs[tx] = ids
		for old := range d.txs {
			if old+rememberedTxs < tx {
				delete(d.txs, old)
			}
		}
	}
	again := ids[id]
	ids[id] = true
	return !again
}

// Writer is what an import writes through; *client.Client is one.
type Writer interface {
	Transact(ctx context.Context, t *client.Transact, w client.Write) (*client.Transacted, error)
}

// send writes items as one batch. If the server refuses it, both halves are
// sent on their own, down to the single item at fault. The keys come from the
// items' places, so that every repetition halves in the same way.
func (s *sender) send(ctx context.Context, items []item, rows []ref, t *tally) error {
	if len(items) == 0 {
		return nil
	}
	answer, err := s.writer.Transact(ctx, s.batch(items), client.Write{
		Tenant: s.options.Tenant, Branch: s.options.Branch,
		IdempotencyKey: fmt.Sprintf("%s-%d-%d", s.key, items[0].event, items[len(items)-1].event),
	})
	if err == nil {
		return s.take(items, answer, rows, t)
	}
	if !atFault(err, items) {
		return err
	}
	if len(items) == 1 {
		t.Refused = append(t.Refused, refused{Row: items[0].row, Reason: reason(err), Retraction: items[0].step != assertRow})
		return nil
	}
	half := len(items) / 2
	if err := s.send(ctx, items[:half], rows, t); err != nil {
		return err
	}
	return s.send(ctx, items[half:], rows, t)
}

func (s *sender) batch(items []item) *client.Transact {
	b := &client.Transact{}
	declared := s.options.KnownAt != ""
	if declared {
		b.Backfill = &client.Backfill{Reason: s.options.Reason}
	}
	for _, it := range items {
		if it.step == assertRow {
			b.Asserts = append(b.Asserts, it.assert)
			continue
		}
		r := client.Retract{ID: it.id}
		if declared {
			r.DeclaredKnownAt = client.At(it.at)
		}
		b.Retracts = append(b.Retracts, r)
	}
	return b
}

// take notes what the server answered: the facts of the asserts come first, in
// their order. A new fact carries the tx and the record time of the answer; one
// that stood already carries earlier ones.
func (s *sender) take(items []item, answer *client.Transacted, rows []ref, t *tally) error {
	next := 0
	for _, it := range items {
		if it.step != assertRow {
			t.Retracted++
			continue
		}
		if next == len(answer.Facts) {
			return fmt.Errorf("the server answered %d facts to more asserts", next)
		}
		got := &answer.Facts[next]
		next++
		if got.Predicate != norm.NFC.String(it.assert.Predicate) {
			return errors.New("the server answered the facts of a batch in another order")
		}
		if got.Tx == answer.Tx && got.RecordedAt == answer.Now && s.told.first(got.Tx, got.ID) {
			t.Written++
		} else {
			t.Duplicates++
		}
		if rows[it.row].retracted {
			t.keep(it.row, got.ID)
		}
		t.Last = got.ID
	}
	t.Tx = max(t.Tx, answer.Tx)
	return nil
}

func (t *tally) keep(row uint32, id string) {
	if t.IDs == nil {
		t.IDs = map[uint32]string{}
	}
	t.IDs[row] = id
}

// atFault reports whether an error is the server's judgement of what a batch
// holds, so that a part of the batch may pass. 404 is one only where something
// is retracted: otherwise it is the answer to a wrong key.
func atFault(err error, items []item) bool {
	switch client.StatusOf(err) {
	case 400, 409, 413:
		return true
	case 404:
		for _, it := range items {
			if it.step != assertRow {
				return true
			}
		}
	}
	return false
}

// reason says why one row was refused, without the place that it had in a
// batch of one.
func reason(err error) string {
	var e *client.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	message := strings.NewReplacer("asserts[0].", "", "asserts[0] ", "", "retracts[0].", "", "retracts[0] ", "").Replace(e.Message)
	return string(e.Code) + ": " + message
}
