package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// Look opens the log of a data directory that no node runs in, to read it only:
// nothing is written. Like Open it reads all of it once, and returns a *Damage where
// it is not what was written. A directory without a log is an error that wraps
// os.ErrNotExist.
func Look(dir string) (*Store, error) {
	path := filepath.Join(dir, storeName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	inner, err := raftboltdb.New(raftboltdb.Options{
		Path:                    path,
		BoltOptions:             &bbolt.Options{ReadOnly: true, Timeout: 2 * time.Second, FreelistType: bbolt.FreelistMapType},
		MsgpackUseNewTimeFormat: true,
	})
	if err != nil {
		return nil, fmt.Errorf("open the log %s: %w", path, err)
	}
	f, err := lookFront(filepath.Join(dir, journalName), inner)
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	s := &Store{path: path, inner: f, closing: inner.Close}
	if err := s.scan(); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return s, nil
}

// Each visits the entries from an index on, in their order, until visit returns an
// error.
func (s *Store) Each(from uint64, visit func(*raft.Log) error) error {
	first, err := s.inner.FirstIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	last, err := s.inner.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	for index := max(first, from, 1); index <= last; index++ {
		var l raft.Log
		err := s.GetLog(index, &l)
		if errors.Is(err, raft.ErrLogNotFound) {
			return &Damage{Path: s.path, Index: index, What: "it is missing"}
		}
		if err == nil {
			err = visit(&l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
