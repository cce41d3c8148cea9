package fsm

import (
	"errors"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/internal/planted"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// Committed is one log entry that a majority has on disk.
type Committed struct {
	Index uint64
	Term  uint64
	Data  []byte // the bytes of package entry
}

// Applied is what became of one entry.
type Applied struct {
	// Skipped is set where the machine had applied the entry before.
	Skipped bool
	// Results answer the requests of a batch, each by its own outcome.
	Results []*fact.Result
	// Sweep reports on a sweep.
	Sweep *SweepReport
}

// ErrDigest is wrapped by the error of a node whose state differs from what the
// leader's digest check says.
var ErrDigest = errors.New("this node's state differs from the leader's")

// Apply applies entries in order, in one Pebble batch that also carries the
// index reached; in several, each whole, where the entries touch very much. An
// error means that this node must stop: it could not write, it does not know an
// entry, or its state differs from the leader's.
//
// One goroutine at a time may call it.
func (m *Machine) Apply(entries []Committed) ([]Applied, error) { return m.ApplyTelling(entries, nil) }

// Teller is told what became of entries: it is certain then, since the log has them,
// and what is left is to write it. It must not read the machine, which waits for that.
type Teller func(entries []Committed, done []Applied)

// ApplyTelling is Apply, and tells the outcomes of writes before their effects are
// written to the store: whoever waits for them need not wait for that. A View that is
// opened after that, and a read by the index that Told names, see the effects.
func (m *Machine) ApplyTelling(entries []Committed, tell Teller) ([]Applied, error) {
	out := make([]Applied, len(entries))
	for from := 0; from < len(entries); {
		n, err := m.applySome(entries[from:], out[from:], tell)
		if err != nil {
			return nil, err
		}
		from += n
	}
	return out, nil
}

// applySome applies as many entries as fit into one batch, and tells how many.
func (m *Machine) applySome(entries []Committed, out []Applied, tell Teller) (n int, err error) {
	l, err := m.start()
	if err != nil {
		return 0, err
	}
	defer m.views.Done()
	for n < len(entries) && l.told < flushBytes {
		c, done := &entries[n], &out[n]
		n++
		if c.Index <= l.state.Index && planted.Bug != planted.ApplyTwice {
			done.Skipped = true
			continue
		}
		if *done, err = l.apply(c); err != nil {
			err = fmt.Errorf("apply log entry %d: %w", c.Index, err)
			return n, errors.Join(err, l.close())
		}
	}
	if l.state.Index == m.state.Index {
		return n, l.close()
	}
	if err = l.flush(); err == nil {
		if tell != nil && l.early() {
			m.telling(l.state.Index)
			tell(entries[:n], out[:n])
		}
		err = l.finish()
	}
	if err != nil {
		m.halt()
		return n, errors.Join(fmt.Errorf("write the effects of log entry %d: %w", l.state.Index, err), l.close())
	}
	l.leave()
	return n, l.close()
}

func (m *Machine) start() (*ledger, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	m.views.Add(1) // a close waits for what is being applied
	return m.newLedger(), nil
}

// apply applies one entry to the ledger.
func (l *ledger) apply(c *Committed) (Applied, error) {
	var done Applied
	e, err := entry.Decode(c.Data)
	if err != nil {
		return done, err
	}
	if l.state.Epoch == "" {
		l.state.Epoch = firstEpoch(e.ProposedAt, c.Term)
	}
	now := e.ProposedAt
	if l.state.Clock.Given() {
		now = max(now, l.state.Clock) // C-23
	}
	l.state.Clock = now
	switch e.Kind {
	case entry.KindBatch:
		done.Results = make([]*fact.Result, len(e.Requests))
		full := l.told + l.m.entryBytes
		for i, b := range e.Requests {
			if l.told > full {
				done.Results[i] = &fact.Result{Tx: l.state.Tx, RecordedAt: now, Err: errEntryFull}
				continue
			}
			if done.Results[i], err = l.request(b, now); err != nil {
				return done, fmt.Errorf("request %d: %w", i, err)
			}
		}
	case entry.KindSweep:
		if done.Sweep, err = l.sweep(now); err != nil {
			return done, err
		}
	case entry.KindCheck:
		if err := l.check(&e); err != nil {
			return done, err
		}
	}
	l.state.Index, l.state.Term = c.Index, c.Term
	return done, nil
}

// request judges one request of a batch.
func (l *ledger) request(b []byte, now fact.Instant) (*fact.Result, error) {
	req, err := entry.DecodeRequest(b)
	if err != nil {
		return nil, err
	}
	if req.Idem != nil && planted.Bug != planted.ApplyTwice {
		if res, err := l.replay(req, now); res != nil || err != nil {
			return res, err
		}
	}
	res, met, err := l.judge(req, now)
	if err != nil {
		return nil, err
	}
	if req.Idem != nil && !overtaken(req, met) {
		l.keep(req, res, met)
	}
	return res, nil
}

// overtaken reports whether a request was refused because another write came
// between what its writer read and this. That is no outcome of what the caller
// asked for: the writer reads anew, and proposes again under the same key.
func overtaken(req *fact.Request, met []metGuard) bool {
	return slices.ContainsFunc(met, func(m metGuard) bool { return req.Write.Guards[m.Guard].Kind == fact.GuardSame })
}

func (l *ledger) judge(req *fact.Request, now fact.Instant) (*fact.Result, []metGuard, error) {
	if req.Write != nil {
		return l.write(req, now)
	}
	l.late = true
	switch {
	case req.Registry != nil:
		res, err := l.change(req, now)
		return res, nil, err
	case req.Vectors != nil:
		res, err := l.setVectors(req, now)
		return res, nil, err
	case req.Branching != nil:
		res, err := l.branching(req, now)
		return res, nil, err
	default:
		res, err := l.purge(req, now)
		return res, nil, err
	}
}

// check compares this node's digest at a tx with the leader's.
func (l *ledger) check(e *entry.Entry) error {
	if e.Tx > l.state.Tx {
		return fmt.Errorf("%w: tx %d is not known here", ErrDigest, e.Tx)
	}
	own, err := l.digestAt(e.Tx)
	if err != nil {
		return err
	}
	if own != e.Digest {
		return fmt.Errorf("%w: at tx %d this node has digest %x, the leader %x", ErrDigest, e.Tx, own[:8], e.Digest[:8])
	}
	return nil
}

// digestAt returns the digest at a tx, one of this call included: the entry of a check
// can come in one call with entries that the leader had applied before it, and with
// others that it had not.
func (l *ledger) digestAt(tx uint64) ([32]byte, error) {
	if before := l.m.state.Tx; tx > before {
		return l.digests[tx-before-1], nil
	}
	return digestAt(l.base, tx)
}

// finish commits what was flushed, and then publishes it: the state and the hot
// timelines change together for every reader.
func (l *ledger) finish() error {
	if err := l.state.save(l.batch); err != nil {
		return err
	}
	m := l.m
	m.commits.Add(1)
	defer m.commits.Add(1)
	if err := l.batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	return l.publish()
}

// publish makes what was committed the machine's state. The picture of the one before is
// let go of first: its snapshot would keep what is to be cleaned away.
func (l *ledger) publish() error {
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = l.state
	m.kept.keep(l)
	l.warm()
	if l.policy {
		m.policies.Add(1)
	}
	err := m.pictures.leave()
	if l.purged {
		m.cleaner.start(m.db, m.state.Purge)
	}
	m.announce()
	return err
}
