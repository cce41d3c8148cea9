package chaos

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"abagraph/client"
)

// Write is one write of the load, under one Idempotency-Key. Its objects are
// words that no other write has.
type Write struct {
	Key     string
	Objects []string
	// Done tells that it was acknowledged, with Tx and IDs (one an object, in
	// their order; nil where they were not told). Refused that it was refused for good. With neither its
	// outcome is not known: it is there wholly, or not at all.
	Done, Refused bool
	Tx            uint64
	IDs           []string
}

// Ledger keeps what was sent and what was answered. It is safe for concurrent
// use.
type Ledger struct {
	// Shared tells that others write into the store too, so that the history of
	// these writes need not have every tx.
	Shared bool

	mu     sync.Mutex
	writes []Write
}

// Add takes down one write with its outcome.
func (l *Ledger) Add(w Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, w)
}

// Len is how many writes were taken down, and how many of them acknowledged.
func (l *Ledger) Len() (all, done int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.writes {
		if l.writes[i].Done {
			done++
		}
	}
	return len(l.writes), done
}

// statement is one fact that the history says was asserted.
type statement struct {
	tx uint64
	id string
}

// most is how many faults one judgement tells.
const most = 20

// Judge holds a history, every event of the store from tx 0 on, to what was
// acknowledged: each acknowledged write is there once, with the tx and the ids
// that its writer was told; one that was refused is not there; one of unknown
// outcome is there wholly and in one tx, or not at all; nothing is there that
// nobody wrote; and no tx is missing.
func (l *Ledger) Judge(history []client.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := make(map[string][]statement)
	var faults []error
	last := uint64(0)
	for _, e := range history {
		if !l.Shared && e.Tx != last && e.Tx != last+1 {
			faults = append(faults, fmt.Errorf("after tx %d comes tx %d", last, e.Tx))
		}
		last = e.Tx
		if e.Op == "assert" {
			text := e.Fact.Object.Text
			there[text] = append(there[text], statement{e.Tx, e.Fact.ID})
		}
	}
	for i := range l.writes {
		faults = append(faults, l.writes[i].judge(there)...)
		for _, object := range l.writes[i].Objects {
			delete(there, object)
		}
	}
	for object, found := range there {
		faults = append(faults, fmt.Errorf("nobody wrote %q, which is there at tx %d", object, found[0].tx))
	}
	if len(faults) > most {
		faults = append(faults[:most], fmt.Errorf("and %d more", len(faults)-most))
	}
	return errors.Join(faults...)
}

func (w *Write) judge(there map[string][]statement) (faults []error) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("write %s: "+format, append([]any{w.Key}, args...)...))
	}
	var txs []uint64
	count := 0
	for i, object := range w.Objects {
		found := there[object]
		count += len(found)
		for _, s := range found {
			txs = append(txs, s.tx)
		}
		switch {
		case len(found) > 1:
			fault("%q was written %d times: %v", object, len(found), found)
		case w.Done && len(found) == 0:
			fault("%q was acknowledged at tx %d and is not there", object, w.Tx)
		case w.Done && found[0].tx != w.Tx:
			fault("%q was acknowledged at tx %d and is there at tx %d", object, w.Tx, found[0].tx)
		case w.Done && w.IDs != nil && found[0].id != w.IDs[i]:
			fault("%q was acknowledged as %s and is %s", object, w.IDs[i], found[0].id)
		case w.Refused && len(found) > 0:
			fault("%q was refused and is there at tx %d", object, found[0].tx)
		}
	}
	slices.Sort(txs)
	if txs = slices.Compact(txs); len(txs) > 1 {
		fault("it lies in %d txs: %v", len(txs), txs)
	}
	if !w.Done && !w.Refused && count != 0 && count != len(w.Objects) {
		fault("%d of its %d facts are there", count, len(w.Objects))
	}
	return faults
}

// Acknowledged are the keys of the writes that were acknowledged so far.
func (l *Ledger) Acknowledged() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := make(map[string]bool, len(l.writes))
	for i := range l.writes {
		if l.writes[i].Done {
			keys[l.writes[i].Key] = true
		}
	}
	return keys
}

// AsOf is the ledger as somebody must see it who was told of some writes only: the
// others may be there, wholly, or not.
func (l *Ledger) AsOf(known map[string]bool) *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	as := &Ledger{Shared: l.Shared, writes: slices.Clone(l.writes)}
	for i := range as.writes {
		as.writes[i].Done = as.writes[i].Done && known[as.writes[i].Key]
	}
	return as
}
