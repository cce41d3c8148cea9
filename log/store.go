package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// backend is what holds the bytes: raft-boltdb on disk, or Raft's own store in
// memory.
type backend interface {
	raft.LogStore
	Set(key, value []byte) error
	Get(key []byte) ([]byte, error)
}

// Store is Raft's log and its stable values. It is a raft.LogStore and a
// raft.StableStore, and safe for concurrent use.
type Store struct {
	path    string
	inner   backend
	closing func() error
	// newest is the greatest format version of an entry that was there at the
	// start, and newestAt the entry.
	newest   byte
	newestAt uint64

	mu     sync.RWMutex // guards sizes and recent
	sizes  sizes
	recent recent

	calls, entries, bytes atomic.Uint64
}

// Stats are counts since the store was opened.
type Stats struct {
	Calls   uint64 // StoreLogs calls: one sync of the disk each
	Entries uint64 // entries they wrote
	Bytes   uint64 // bytes of these entries' data
	// LogEntries and LogBytes are what the log holds now.
	LogEntries uint64
	LogBytes   uint64
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Stats{
		Calls: s.calls.Load(), Entries: s.entries.Load(), Bytes: s.bytes.Load(),
		LogEntries: uint64(len(s.sizes.length)), LogBytes: s.sizes.total,
	}
}

// After returns the bytes and the number of the entries behind an index: what
// has been appended since the snapshot at that index.
func (s *Store) After(index uint64) (bytes, entries uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sizes.after(index)
}

// Within returns how many of the newest entries fit into a number of bytes.
func (s *Store) Within(bytes uint64) uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sizes.within(bytes)
}

// IsMonotonic tells Raft that the log has no gaps: after a snapshot has been
// installed all older entries are removed, so that a gap is always damage.
func (s *Store) IsMonotonic() bool { return true }

// FirstIndex returns the first index of the log, or 0 if it is empty.
func (s *Store) FirstIndex() (uint64, error) { return s.inner.FirstIndex() }

// LastIndex returns the last index of the log, or 0 if it is empty.
func (s *Store) LastIndex() (uint64, error) { return s.inner.LastIndex() }

// GetLog reads the entry at an index. It returns raft.ErrLogNotFound if there is
// none, and a *Damage if the entry is not what was written.
func (s *Store) GetLog(index uint64, l *raft.Log) error {
	s.mu.RLock()
	hit := s.recent.get(index)
	s.mu.RUnlock()
	if hit != nil {
		*l = *hit
		return nil
	}
	return s.read(index, l)
}

func (s *Store) read(index uint64, l *raft.Log) error {
	if err := s.inner.GetLog(index, l); err != nil {
		if errors.Is(err, raft.ErrLogNotFound) {
			return raft.ErrLogNotFound
		}
		return &Damage{Path: s.path, Index: index, What: "it cannot be decoded: " + err.Error()}
	}
	return unseal(s.path, index, l)
}

// StoreLog writes one entry.
func (s *Store) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs writes entries, each with its checksum, with one sync of the disk.
func (s *Store) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	bytes := 0
	for i, l := range logs {
		sealed[i] = seal(l)
		bytes += len(l.Data)
	}
	if err := s.inner.StoreLogs(sealed); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	s.calls.Add(1)
	s.entries.Add(uint64(len(logs)))
	s.bytes.Add(uint64(bytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range logs {
		s.sizes.put(l.Index, len(l.Data))
		kept := *l // Raft's own entry is part of a future, which must not be kept
		s.recent.put(&kept)
	}
	return nil
}

// deleteChunk is how many entries one transaction removes from the front of the
// log: a single large one would hold up every write behind it.
const deleteChunk = 512

// DeleteRange removes the entries from lo to hi, both included. From the front
// it works in small steps, from low to high, so that what an interruption leaves
// has no gap.
func (s *Store) DeleteRange(lo, hi uint64) error {
	s.mu.Lock()
	s.recent.clear()
	s.mu.Unlock()
	first, err := s.inner.FirstIndex()
	if err != nil {
		return fmt.Errorf("trim the log: %w", err)
	}
	step := hi - min(lo, hi)
	if lo <= first {
		lo, step = first, deleteChunk-1
	}
	for lo <= hi {
		end := min(hi, lo+step)
		if err := s.inner.DeleteRange(lo, end); err != nil {
			return fmt.Errorf("trim the log: %w", err)
		}
		s.mu.Lock()
		s.sizes.drop(lo, end)
		s.mu.Unlock()
		lo = end + 1
	}
	return nil
}

// Set writes a stable value.
func (s *Store) Set(key, value []byte) error {
	return s.inner.Set(key, sealValue(key, value))
}

// Get reads a stable value. A missing one is an error that says "not found",
// which is how Raft asks for it.
func (s *Store) Get(key []byte) ([]byte, error) {
	sealed, err := s.inner.Get(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) == 0 {
		return nil, errNotFound
	}
	return unsealValue(s.path, key, sealed)
}

// errNotFound is the text that Raft compares with.
var errNotFound = errors.New("not found")

// SetUint64 writes a stable number.
func (s *Store) SetUint64(key []byte, v uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, v))
}

// GetUint64 reads a stable number.
func (s *Store) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, &Damage{Path: s.path, What: fmt.Sprintf("the value %s has %d bytes, not 8", key, len(value))}
	}
	return binary.BigEndian.Uint64(value), nil
}

// Newest returns the greatest format version of the entries that were there when
// the log was opened, and one that has it.
func (s *Store) Newest() (version byte, index uint64) { return s.newest, s.newestAt }

// Close closes the file.
func (s *Store) Close() error {
	if s.closing == nil {
		return nil
	}
	if err := s.closing(); err != nil {
		return fmt.Errorf("close the log: %w", err)
	}
	return nil
}
