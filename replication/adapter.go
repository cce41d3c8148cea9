package replication

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"abagraph/fsm"

	"github.com/hashicorp/raft"
)

// maxApplyBytes bounds what one call of StateMachine.Apply is given: when a node
// catches up, Raft hands over many entries at once.
const maxApplyBytes = 8 << 20

// adapter is the state machine as Raft sees it (raft.BatchingFSM). Raft calls it
// from one goroutine.
type adapter struct {
	node    *Node
	machine StateMachine
	snaps   *snapshots
	stopped error // set by the first failure; nothing is applied after it
	seq     atomic.Uint64
	// applying is held while the state moves: a backup keeps it still.
	applying sync.Mutex
	// seen is the last index that was dealt with, configuration entries
	// included.
	seen atomic.Uint64
}

// applied is what a proposer gets back for an entry.
type applied struct {
	fsm.Applied
	err error // this node could not apply the entry; others may have
}

// Apply applies one entry.
func (a *adapter) Apply(l *raft.Log) any { return a.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies the entries that are ready. A failure stops the node: the
// state would be behind the log from then on.
func (a *adapter) ApplyBatch(logs []*raft.Log) []any {
	a.node.backlog.busy.begin()
	a.applying.Lock()
	defer a.applying.Unlock()
	out := make([]any, len(logs))
	for from := 0; from < len(logs); {
		to, bytes := from, 0
		for to < len(logs) && (to == from || bytes+len(logs[to].Data) <= maxApplyBytes) {
			bytes += len(logs[to].Data)
			to++
		}
		a.node.backlog.busy.begin()
		a.chunk(logs[from:to], out[from:to])
		from = to
	}
	return out
}

// chunk applies some entries with one call of the state machine. Configuration
// entries are Raft's own business.
func (a *adapter) chunk(logs []*raft.Log, out []any) {
	entries := make([]fsm.Committed, 0, len(logs))
	for _, l := range logs {
		if l.Type == raft.LogCommand {
			entries = append(entries, fsm.Committed{Index: l.Index, Term: l.Term, Data: l.Data})
		}
	}
	start := time.Now()
	results, err := a.apply(entries, start)
	end := time.Now()
	a.saw(logs[len(logs)-1].Index) // before anyone hears of it
	next := 0
	for i, l := range logs {
		switch {
		case l.Type != raft.LogCommand:
			out[i] = applied{}
		case err != nil:
			out[i] = applied{err: err}
		default:
			out[i] = applied{Applied: results[next]}
			a.node.proposer.applied(l.Data, &results[next], start, end)
			next++
		}
	}
}

// teller answers the writes of the entry in flight as soon as their outcomes are
// certain; nil where none of this node's is.
func (a *adapter) teller(start time.Time) fsm.Teller {
	if a.node.proposer.flight.Load() == nil {
		return nil
	}
	return func(entries []fsm.Committed, done []fsm.Applied) {
		end := time.Now()
		for i := range entries {
			a.node.proposer.applied(entries[i].Data, &done[i], start, end)
		}
	}
}

// saw takes down that everything up to an index is dealt with.
func (a *adapter) saw(index uint64) {
	a.seen.Store(index)
	a.node.backlog.applied(index)
}

func (a *adapter) apply(entries []fsm.Committed, start time.Time) ([]fsm.Applied, error) {
	if len(entries) == 0 || a.stopped != nil {
		return nil, a.stopped
	}
	results, err := a.machine.ApplyTelling(entries, a.teller(start))
	if err == nil && len(results) != len(entries) {
		err = fmt.Errorf("the state machine gave %d answers to %d entries", len(results), len(entries))
	}
	if err != nil {
		a.stopped = err
		a.node.fail(err)
		return nil, err
	}
	a.node.metrics.applyTime.Observe(time.Since(start).Seconds())
	return results, nil
}

// Snapshot takes a checkpoint of exactly what has been applied. Apply waits for
// it.
func (a *adapter) Snapshot() (raft.FSMSnapshot, error) {
	if a.stopped != nil {
		return nil, a.stopped
	}
	fs := a.machine.FS()
	dir := fs.PathJoin(a.snaps.root, fmt.Sprintf("checkpoint-%d%s", a.seq.Add(1), unfinished))
	if err := fs.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("make room for a checkpoint: %w", err)
	}
	if err := a.machine.Checkpoint(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("take a snapshot: %w", err), fs.RemoveAll(dir))
	}
	return &checkpoint{adapter: a, dir: dir, index: a.machine.Position().Index}, nil
}

// checkpoint is a snapshot on its way into the store.
type checkpoint struct {
	adapter *adapter
	dir     string
	index   uint64
}

// Persist moves the checkpoint into the snapshot; no byte is copied.
func (c *checkpoint) Persist(sink raft.SnapshotSink) error {
	own, ok := sink.(*snapSink)
	if !ok {
		return fmt.Errorf("a snapshot cannot be kept in a %T", sink)
	}
	return own.adopt(c.dir, c.index)
}

// Release removes what was not moved.
func (c *checkpoint) Release() {
	if err := c.adapter.machine.FS().RemoveAll(c.dir); err != nil {
		c.adapter.node.logger.Error("abagraph.snapshot.cleanup_error", "error", err)
	}
}

// Restore replaces the state by a snapshot that came from another node: unpacked
// and verified beside it first, then swapped in whole (or not at all, and then
// the node keeps what it had and says why).
func (a *adapter) Restore(from io.ReadCloser) error {
	start := time.Now()
	err := a.restore(from)
	if err != nil {
		a.node.problem.Store(&problem{what: fmt.Sprintf("a snapshot could not be restored: %v", err)})
		a.node.logger.Error("abagraph.snapshot.restore_error", "error", err)
		return err
	}
	if newest, ok := a.snaps.newest(); ok {
		a.node.guarded.installed.Store(newest.Raft.Index)
	}
	a.node.problem.Store(nil)
	a.node.metrics.restoreTime.Observe(time.Since(start).Seconds())
	return nil
}

func (a *adapter) restore(from io.Reader) error {
	fs := a.machine.FS()
	dir := fs.PathJoin(a.snaps.root, "restore"+unfinished)
	if err := fs.RemoveAll(dir); err != nil {
		return fmt.Errorf("make room for a restore: %w", err)
	}
	if err := fsm.ReadArchive(fs, from, dir); err != nil {
		return err
	}
	a.applying.Lock()
	err := a.machine.RestoreDir(dir)
	a.applying.Unlock()
	if err != nil {
		return errors.Join(err, fs.RemoveAll(dir))
	}
	a.saw(a.machine.Position().Index)
	if newest, ok := a.snaps.newest(); ok && newest.Applied == 0 {
		return a.snaps.restored(newest.Raft.ID, a.machine.Position().Index)
	}
	return nil
}

// catchUp restores the newest snapshot before Raft starts, if the state machine
// lies below it: the entries in between may be gone from the log.
func (a *adapter) catchUp() error {
	newest, ok := a.snaps.newest()
	if !ok {
		return nil
	}
	need := newest.Applied
	if need == 0 {
		need = newest.Raft.Index
	}
	if a.machine.Position().Index >= need {
		return nil
	}
	_, from, err := a.snaps.Open(newest.Raft.ID)
	if err != nil {
		return err
	}
	if err := errors.Join(a.restore(from), from.Close()); err != nil {
		return fmt.Errorf("restore the newest snapshot, which this node's state lies below: %w", err)
	}
	a.node.logger.Info("abagraph.snapshot.restored", "index", newest.Raft.Index)
	return nil
}
