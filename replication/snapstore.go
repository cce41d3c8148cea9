package replication

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"abagraph/fsm"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// keptSnapshots is how many snapshots stay on disk. Each is hard links to the
// store's own files, so that it costs only what the store has replaced since.
const keptSnapshots = 2

// The names inside the snapshots' directory: a finished snapshot is a directory
// with these two in it, everything that ends in unfinished is removed at a start.
const (
	metaName   = "meta.json"
	stateName  = "state"
	unfinished = ".tmp"
)

// snapshots is the raft.SnapshotStore: each snapshot is a checkpoint directory of
// the state machine, sent to other nodes as one checksummed stream.
type snapshots struct {
	fs     vfs.FS
	root   string
	logger *slog.Logger
	tight  func() bool // whether the disk has no room for another node's; nil = it has

	mu   sync.Mutex
	held []*snapshot // newest first
	seq  uint64
}

// snapshot is one that is finished.
type snapshot struct {
	meta    snapMeta
	readers int
	gone    bool // to be removed once nobody reads it
}

// openSnapshots reads what there is and removes what was left unfinished. A
// snapshot whose description is damaged is reported and left out.
func openSnapshots(fs vfs.FS, root string, logger *slog.Logger) (*snapshots, error) {
	s := &snapshots{fs: fs, root: root, logger: logger}
	if err := fs.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make the snapshots' directory: %w", err)
	}
	names, err := fs.List(root)
	if err != nil {
		return nil, fmt.Errorf("list the snapshots: %w", err)
	}
	for _, name := range names {
		if err := s.load(name); err != nil {
			return nil, err
		}
	}
	s.sort()
	return s, nil
}

func (s *snapshots) load(name string) error {
	path := s.fs.PathJoin(s.root, name)
	if strings.HasSuffix(name, unfinished) {
		if err := s.fs.RemoveAll(path); err != nil {
			return fmt.Errorf("remove an unfinished snapshot: %w", err)
		}
		return nil
	}
	meta, err := s.describe(name)
	if err != nil {
		s.logger.Error("abagraph.snapshot.unreadable", "snapshot", path, "error", err)
		return nil
	}
	var index, term, seq uint64
	if _, err := fmt.Sscanf(name, idFormat, &index, &term, &seq); err == nil {
		s.seq = max(s.seq, seq)
	}
	s.held = append(s.held, &snapshot{meta: meta})
	return nil
}

const idFormat = "%016x-%08x-%06x"

func (s *snapshots) sort() {
	slices.SortFunc(s.held, func(a, b *snapshot) int {
		return cmp.Or(cmp.Compare(b.meta.Raft.Index, a.meta.Raft.Index),
			cmp.Compare(b.meta.Raft.Term, a.meta.Raft.Term), cmp.Compare(b.meta.Raft.ID, a.meta.Raft.ID))
	})
}

func (s *snapshots) path(id string) string { return s.fs.PathJoin(s.root, id) }

// newest returns the description of the newest snapshot.
func (s *snapshots) newest() (snapMeta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return snapMeta{}, false
	}
	return s.held[0].meta, true
}

// List returns the snapshots, newest first.
func (s *snapshots) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*raft.SnapshotMeta, len(s.held))
	for i, h := range s.held {
		meta := h.meta.Raft
		out[i] = &meta
	}
	return out, nil
}

// Create begins a snapshot.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	s.seq++
	id := fmt.Sprintf(idFormat, index, term, s.seq)
	s.mu.Unlock()
	meta := snapMeta{Raft: raft.SnapshotMeta{
		Version: version, ID: id, Index: index, Term: term,
		Configuration: configuration, ConfigurationIndex: configurationIndex,
	}}
	dir := s.path(id) + unfinished
	if err := s.fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a snapshot: %w", err)
	}
	return &snapSink{store: s, meta: meta, dir: dir}, nil
}

// Open streams a snapshot. It cannot be removed while it is being read.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	h := s.hold(id)
	if h == nil {
		return nil, nil, fmt.Errorf("there is no snapshot %s", id)
	}
	reader, writer := io.Pipe()
	r := &snapReader{PipeReader: reader, done: make(chan struct{}), release: func() { s.release(h) }}
	go func() {
		defer close(r.done)
		writer.CloseWithError(fsm.WriteArchive(s.fs, s.fs.PathJoin(s.path(id), stateName), writer))
	}()
	meta := h.meta.Raft
	return &meta, r, nil
}

// snapReader is the reading end; Close ends the goroutine that writes.
type snapReader struct {
	*io.PipeReader
	done    chan struct{}
	release func()
	once    sync.Once
}

func (r *snapReader) Close() error {
	err := r.PipeReader.Close()
	<-r.done
	r.once.Do(r.release)
	return err
}

func (s *snapshots) hold(id string) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if h.meta.Raft.ID == id {
			h.readers++
			return h
		}
	}
	return nil
}

func (s *snapshots) release(h *snapshot) {
	s.mu.Lock()
	h.readers--
	remove := h.gone && h.readers == 0
	s.mu.Unlock()
	if remove {
		s.remove(h)
	}
}

func (s *snapshots) remove(h *snapshot) {
	// Renamed first: what a crash leaves is then seen to be unfinished.
	path := s.path(h.meta.Raft.ID)
	err := s.fs.Rename(path, path+unfinished)
	if err == nil {
		err = s.fs.RemoveAll(path + unfinished)
	}
	if err != nil {
		s.logger.Error("abagraph.snapshot.cleanup_error", "snapshot", path, "error", err)
	}
}

// add takes in a finished snapshot and lets go of the oldest.
func (s *snapshots) add(meta snapMeta) {
	s.mu.Lock()
	s.held = append(s.held, &snapshot{meta: meta})
	s.sort()
	s.mu.Unlock()
	s.keep(keptSnapshots)
}

// keep lets go of all but so many of the newest snapshots.
func (s *snapshots) keep(most int) {
	s.mu.Lock()
	var old []*snapshot
	for len(s.held) > most {
		h := s.held[len(s.held)-1]
		s.held = s.held[:len(s.held)-1]
		h.gone = true
		if h.readers == 0 {
			old = append(old, h)
		}
	}
	s.mu.Unlock()
	for _, h := range old {
		s.remove(h)
	}
}

// restored notes at which index the state machine stands in a snapshot that came
// from another node.
func (s *snapshots) restored(id string, applied uint64) error {
	h := s.hold(id)
	if h == nil {
		return nil
	}
	defer s.release(h)
	s.mu.Lock()
	h.meta.Applied = applied
	meta := h.meta
	s.mu.Unlock()
	return s.writeMeta(s.path(id), meta)
}

func (s *snapshots) writeMeta(dir string, meta snapMeta) error {
	content, err := encodeMeta(meta)
	if err != nil {
		return err
	}
	if err := writeFile(s.fs, dir, metaName, content); err != nil {
		return fmt.Errorf("write a snapshot's description: %w", err)
	}
	return nil
}

// finish puts a snapshot's directory in place.
func (s *snapshots) finish(dir string, meta snapMeta) error {
	size, err := fsm.ArchiveSize(s.fs, s.fs.PathJoin(dir, stateName))
	if err != nil {
		return err
	}
	meta.Raft.Size = size
	if err := s.writeMeta(dir, meta); err != nil {
		return err
	}
	if err := errors.Join(s.fs.Rename(dir, s.path(meta.Raft.ID)), syncDir(s.fs, s.root)); err != nil {
		return fmt.Errorf("put a snapshot in place: %w", err)
	}
	s.add(meta)
	return nil
}
