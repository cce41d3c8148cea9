package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/log/entry"
	"abagraph/replication"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// Verify is one deep check, of a backup or of the data directory of a node that does
// not run. It changes nothing.
type Verify struct {
	Path string
	// Quick leaves out the store's own check: of a backup every byte is still
	// held to its checksums, of a directory the log is read whole.
	Quick bool
	// Temp is where a backup is unpacked for its store's check; "" = the
	// system's directory for such.
	Temp string
	// Progress is told what is being done and how far it is; total 0 = not known.
	Progress func(what string, done, total int64)
}

// VerifyReport tells what was seen. Sound is set where there is no problem.
type VerifyReport struct {
	Path     string        `json:"path"`
	Kind     string        `json:"kind"` // backup or data
	Sound    bool          `json:"sound"`
	Problems []string      `json:"problems"`
	Manifest *fsm.Manifest `json:"manifest,omitempty"` // of a backup
	NodeID   string        `json:"node_id,omitempty"`
	Log      *LogReport    `json:"log,omitempty"`
	Snapshot *SnapReport   `json:"snapshot,omitempty"` // the newest one
	Store    *fsm.Verified `json:"store,omitempty"`
}

// LogReport is what a whole log was read as.
type LogReport struct {
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Entries uint64 `json:"entries"`
	Bytes   uint64 `json:"bytes"`
}

// SnapReport names a snapshot.
type SnapReport struct {
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
}

func (r *VerifyReport) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Run checks. The error tells why nothing could be checked; what was found to be
// wrong is in the report.
func (v *Verify) Run(ctx context.Context) (*VerifyReport, error) {
	info, err := os.Stat(v.Path)
	if err != nil {
		return nil, fmt.Errorf("look at what is to be verified: %w", err)
	}
	report := &VerifyReport{Path: v.Path, Problems: []string{}}
	if info.IsDir() {
		report.Kind, err = "data", v.directory(ctx, report)
	} else {
		report.Kind, err = "backup", v.backup(ctx, report)
	}
	if err != nil {
		return nil, err
	}
	report.Sound = len(report.Problems) == 0
	return report, nil
}

func (v *Verify) tell(what string, done, total int64) {
	if v.Progress != nil {
		v.Progress(what, done, total)
	}
}

// backup checks a backup's bytes and, unpacked into a directory of its own, its
// store.
func (v *Verify) backup(ctx context.Context, report *VerifyReport) error {
	file, size, err := openFile(v.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	read := (&Restore{Progress: func(done, total int64) { v.tell("reading", done, total/2) }}).reader(ctx, file, 0, size)
	if v.Quick {
		report.Manifest, err = fsm.CheckBackup(read)
		return report.unusable(ctx, err)
	}
	temp, err := os.MkdirTemp(v.Temp, "abagraph-verify-")
	if err != nil {
		return fmt.Errorf("make room to unpack the backup: %w", err)
	}
	state := filepath.Join(temp, "state")
	report.Manifest, err = fsm.ReadBackup(vfs.Default, read, state)
	if err = report.unusable(ctx, err); err == nil && report.Manifest != nil {
		err = v.store(ctx, report, state, report.Manifest)
	}
	return errors.Join(err, os.RemoveAll(temp))
}

// unusable turns the error of a file that cannot be used into a problem.
func (r *VerifyReport) unusable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return orEnded(ctx, err)
	}
	r.problem("%v", err)
	return nil
}

// directory checks the log, the snapshots and the store of a data directory, and
// that they belong together.
func (v *Verify) directory(ctx context.Context, report *VerifyReport) error {
	kept, err := replication.Look(v.Path)
	if err != nil {
		return err
	}
	lock, err := rlog.Lock(v.Path)
	if err != nil {
		return err
	}
	defer lock.Close()
	report.NodeID = kept.NodeID
	for _, name := range kept.Unreadable {
		report.problem("snapshot %s", name)
	}
	if len(kept.Snapshots) > 0 {
		newest := kept.Snapshots[0]
		report.Snapshot = &SnapReport{newest.Index, newest.Term}
	}
	terms := v.log(ctx, report)
	for _, snapshot := range kept.Snapshots {
		if err := v.snapshot(ctx, report, snapshot); err != nil {
			return err
		}
	}
	if err := v.store(ctx, report, filepath.Join(v.Path, "state"), nil); err != nil {
		return err
	}
	report.together(terms)
	return ctx.Err()
}

// log reads every entry, holds it to its checksum and decodes it. It returns the
// terms of the entries.
func (v *Verify) log(ctx context.Context, report *VerifyReport) map[uint64]uint64 {
	store, err := rlog.Look(v.Path)
	if err != nil {
		report.problem("%v", err)
		return nil
	}
	defer store.Close()
	stats := store.Stats()
	found := &LogReport{Bytes: stats.LogBytes}
	terms := make(map[uint64]uint64)
	err = store.Each(0, func(l *raft.Log) error {
		if found.First == 0 {
			found.First = l.Index
		}
		found.Last = l.Index
		found.Entries++
		terms[l.Index] = l.Term
		if found.Entries%1024 == 0 {
			v.tell("log", int64(found.Entries), int64(stats.LogEntries))
		}
		if l.Type == raft.LogCommand {
			if _, err := entry.Decode(l.Data); err != nil {
				report.problem("entry %d of the log: %v", l.Index, err)
			}
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		report.problem("%v", err)
	}
	report.Log = found
	return terms
}

// snapshot opens a snapshot's state, as a restore of it would.
func (v *Verify) snapshot(ctx context.Context, report *VerifyReport, s replication.KeptSnapshot) error {
	machine, err := fsm.Open(fsm.Options{Dir: s.Dir, ReadOnly: true, CacheBytes: 8 << 20})
	if err != nil {
		report.problem("the snapshot at entry %d: %v", s.Index, err)
		return ctx.Err()
	}
	at := machine.Position()
	if at.Index > s.Index {
		report.problem("the snapshot at entry %d holds a state of entry %d", s.Index, at.Index)
	}
	return machine.Close()
}

// store deep-checks an index store, and holds it to a backup's manifest.
func (v *Verify) store(ctx context.Context, report *VerifyReport, dir string, manifest *fsm.Manifest) error {
	if v.Quick {
		return nil
	}
	machine, err := fsm.Open(fsm.Options{Dir: dir, ReadOnly: true, CacheBytes: 64 << 20})
	if err != nil {
		report.problem("%v", err)
		return nil
	}
	defer machine.Close()
	if manifest != nil {
		if err := holds(ctx, machine, manifest); err != nil {
			report.problem("%v", err)
		}
	}
	view, err := machine.View()
	if err != nil {
		return err
	}
	defer view.Close()
	report.Store, err = view.Verify(ctx, func(keys uint64) { v.tell("store", int64(keys), 0) })
	if err != nil {
		return report.unusable(ctx, err)
	}
	for _, problem := range report.Store.Problems {
		report.problem("%s", problem)
	}
	if n := report.Store.Untold; n > 0 {
		report.problem("and %d problems more", n)
	}
	return nil
}

// together checks that log, snapshot and state are of one history, without a hole.
func (r *VerifyReport) together(terms map[uint64]uint64) {
	if r.Log == nil || r.Store == nil {
		return
	}
	snapshot, snapshotTerm := uint64(0), uint64(0)
	if r.Snapshot != nil {
		snapshot, snapshotTerm = r.Snapshot.Index, r.Snapshot.Term
	}
	if r.Log.Entries > 0 && r.Log.First > snapshot+1 {
		r.problem("the entries from %d to %d are neither in the log nor in a snapshot", snapshot+1, r.Log.First-1)
	}
	if last := max(r.Log.Last, snapshot); r.Store.Index > last {
		r.problem("the log ends at entry %d, but the state has applied entry %d: a part of the log is missing", last, r.Store.Index)
	}
	if term, there := terms[snapshot]; there && term != snapshotTerm {
		r.problem("entry %d of the log is of term %d, and the snapshot taken at it of term %d", snapshot, term, snapshotTerm)
	}
}
