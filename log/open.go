package log

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"abagraph/internal/planted"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// memoryPath names the log that has no file.
const memoryPath = ":memory:"

// initialMap is how much address space is mapped at first, in bytes: growing the
// map waits for every reader, and the log is trimmed to less than this.
const initialMap = 256 << 20

// Open opens the log of a claimed directory and reads all of it once. A *Damage
// is returned if the file's structure, an entry's checksum or a stable value is
// not what was written.
func Open(dir *Dir) (*Store, error) {
	path := filepath.Join(dir.path, storeName)
	if err := checkFile(path); err != nil {
		return nil, err
	}
	inner, err := raftboltdb.New(raftboltdb.Options{
		Path: path,
		BoltOptions: &bbolt.Options{
			Timeout:         2 * time.Second,
			NoFreelistSync:  true,
			FreelistType:    bbolt.FreelistMapType,
			InitialMmapSize: initialMap,
		},
		MsgpackUseNewTimeFormat: true,
		NoSync:                  planted.Bug == planted.SkipSync,
	})
	if err != nil {
		return nil, fmt.Errorf("open the log %s: %w", path, err)
	}
	f, err := front(filepath.Join(dir.path, journalName), inner)
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	s := &Store{path: path, inner: f, closing: sync.OnceValue(func() error { return errors.Join(f.close(), inner.Close()) })}
	if err := s.scan(); err != nil {
		return nil, errors.Join(err, s.closing())
	}
	return s, nil
}

// OpenMemory returns a log that ends with the process.
func OpenMemory() *Store {
	return &Store{path: memoryPath, inner: memory{raft.NewInmemStore()}}
}

// memory makes a value that is missing look as it does on disk.
type memory struct{ *raft.InmemStore }

func (m memory) Get(key []byte) ([]byte, error) {
	value, err := m.InmemStore.Get(key)
	if err != nil || len(value) == 0 {
		return nil, errNotFound
	}
	return value, nil
}

// checkFile looks at the file's pages before bbolt does, since bbolt answers a
// damaged page with a panic and a damaged newest head with the one before it,
// which would cut off the last write in silence.
func checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	if info.Size() == 0 {
		return nil
	}
	return checkPages(path)
}

// scan reads every entry and stable value, checks them and measures the entries.
func (s *Store) scan() error {
	first, err := s.inner.FirstIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	last, err := s.inner.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	for index := first; index <= last && last > 0; index++ {
		var l raft.Log
		err := s.read(index, &l)
		if errors.Is(err, raft.ErrLogNotFound) {
			continue // Settle judges gaps: it knows the newest snapshot
		}
		if err != nil {
			return err
		}
		if l.Type == raft.LogCommand && len(l.Data) > 0 && l.Data[0] > s.newest {
			s.newest, s.newestAt = l.Data[0], index
		}
		s.sizes.put(index, len(l.Data))
	}
	for _, key := range []string{"CurrentTerm", "LastVoteTerm", "LastVoteCand"} {
		if _, err := s.Get([]byte(key)); err != nil && err.Error() != errNotFound.Error() {
			return err
		}
	}
	return nil
}

// Settle checks that nothing is missing between the newest snapshot, taken at an
// index (0 = none), and the end of the log. Entries that only an interrupted
// installation of the snapshot has left below it are removed.
func (s *Store) Settle(snapshot uint64) error {
	first, err := s.inner.FirstIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	last, err := s.inner.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if last == 0 {
		return nil
	}
	run := s.sizes.first // where the unbroken run that ends the log begins
	switch {
	case last <= snapshot && (last < snapshot || run != first):
		return s.DeleteRange(first, last)
	case run > snapshot+1:
		return &Damage{Path: s.path, Index: snapshot + 1,
			What: fmt.Sprintf("it is missing, and so is everything up to entry %d", run-1)}
	case run != first:
		return s.DeleteRange(first, run-1)
	}
	return nil
}
