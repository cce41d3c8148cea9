package ops

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/replication"

	"github.com/hashicorp/raft"
)

// Replay applies the log of a node that does not run anew, in a temporary directory,
// and compares what comes of it with the node's store. It changes nothing.
type Replay struct {
	Data string
	// Temp is where the store is built anew; "" = the system's directory for such.
	Temp     string
	Progress func(what string, done, total int64)
	Fatal    Fatal
}

// ReplayReport tells what was compared. Same is set where both stores are of the same
// entry, tx and digest; SameKeys where they are equal to the last key, which a store
// that an earlier release has written need not be: a later one may keep more.
type ReplayReport struct {
	Data    string      `json:"data"`
	NodeID  string      `json:"node_id"`
	From    uint64      `json:"from"`    // entry of the snapshot that was begun with; 0 = an empty store
	Entries uint64      `json:"entries"` // applied anew
	Kept    ReplayState `json:"kept"`
	Anew    ReplayState `json:"anew"`
	Same    bool        `json:"same"`
	// SameKeys compares the keys.
	SameKeys bool `json:"same_keys"`
}

// ReplayState is one of the two stores.
type ReplayState struct {
	Index  uint64 `json:"index"`
	Tx     uint64 `json:"tx"`
	Digest string `json:"digest"`
	Keys   uint64 `json:"keys"`
	Sum    string `json:"sum"` // over every key and value
}

// Run replays and compares. The error tells why nothing could be compared.
func (r *Replay) Run(ctx context.Context) (_ *ReplayReport, err error) {
	kept, err := replication.Look(r.Data)
	if err != nil {
		return nil, err
	}
	lock, err := rlog.Lock(r.Data)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	store, err := rlog.Look(r.Data)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	report := &ReplayReport{Data: r.Data, NodeID: kept.NodeID}
	if report.Kept, err = r.state(ctx, filepath.Join(r.Data, "state")); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(r.Temp, "abagraph-replay-")
	if err != nil {
		return nil, fmt.Errorf("make room for a replay: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	state := filepath.Join(temp, "state")
	first, err := store.FirstIndex()
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	if err := begin(kept, first, report.Kept.Index, state); err != nil {
		return nil, err
	}
	if err := r.apply(ctx, store, state, report); err != nil {
		return nil, err
	}
	if report.Anew, err = r.state(ctx, state); err != nil {
		return nil, err
	}
	a, k := report.Anew, report.Kept
	report.Same = a.Index == k.Index && a.Tx == k.Tx && a.Digest == k.Digest
	report.SameKeys = report.Same && a == k
	return report, nil
}

// begin lays out what the log goes on from: the oldest snapshot that it has no hole
// behind, or nothing.
func begin(kept *replication.Kept, first, applied uint64, state string) error {
	if first == 1 {
		return os.Mkdir(state, 0o700)
	}
	for i := len(kept.Snapshots) - 1; i >= 0; i-- {
		s := kept.Snapshots[i]
		if s.Index <= applied && (first == 0 || first <= s.Index+1) {
			return copyTree(s.Dir, state)
		}
	}
	return errors.New("the log does not begin at its first entry, and no snapshot lies before what it holds: there is nothing to replay from")
}

// apply applies the entries that the node's own state has.
func (r *Replay) apply(ctx context.Context, store *rlog.Store, state string, report *ReplayReport) (err error) {
	machine, err := fsm.Open(fsm.Options{Dir: state, CacheBytes: 32 << 20, Fatal: r.Fatal.leaving(filepath.Dir(state))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	report.From = machine.Position().Index
	var batch []fsm.Committed
	flush := func() error {
		_, err := machine.Apply(batch)
		report.Entries += uint64(len(batch))
		batch = nil
		if r.Progress != nil {
			r.Progress("replaying", int64(report.Entries), int64(report.Kept.Index-report.From))
		}
		return errors.Join(err, ctx.Err())
	}
	err = store.Each(report.From+1, func(l *raft.Log) error {
		if l.Index > report.Kept.Index {
			return errEnough
		}
		if l.Type != raft.LogCommand {
			return nil
		}
		if batch = append(batch, fsm.Committed{Index: l.Index, Term: l.Term, Data: l.Data}); len(batch) < 64 {
			return nil
		}
		return flush()
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("replay the log: %w", err)
	}
	if err := flush(); err != nil {
		return fmt.Errorf("replay the log: %w", err)
	}
	return nil
}

// state reads where a store stands, and all of it.
func (r *Replay) state(ctx context.Context, dir string) (out ReplayState, err error) {
	machine, err := fsm.Open(fsm.Options{Dir: dir, ReadOnly: true, CacheBytes: 8 << 20})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	view, err := machine.View()
	if err != nil {
		return out, err
	}
	defer view.Close()
	at := view.Position()
	sum, keys, err := view.Sum(ctx)
	if err != nil {
		return out, err
	}
	return ReplayState{Index: at.Index, Tx: at.Tx, Digest: hex.EncodeToString(at.Digest[:]), Keys: keys, Sum: hex.EncodeToString(sum[:])}, nil
}

// copyTree copies a directory of files.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("copy a snapshot: %w", err)
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return fmt.Errorf("copy a snapshot: %w", err)
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy a snapshot: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy a snapshot: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy a snapshot: %w", err)
	}
	return nil
}
