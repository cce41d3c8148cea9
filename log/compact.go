package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"abagraph/log/journal"

	"go.etcd.io/bbolt"
)

// compactBatch is how many bytes of the new file are written in one transaction.
const compactBatch = 16 << 20

// Compact writes the log of a claimed directory anew, without the pages that are no
// longer in use and what stands in them, and puts the new file in place of the old
// one by a rename. It returns the sizes before and after. A directory without a log
// is left as it is.
func Compact(dir *Dir) (before, after int64, err error) {
	path := filepath.Join(dir.path, storeName)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("look at the log: %w", err)
	}
	whole, err := Open(dir) // which refuses one that is damaged
	if err != nil {
		return 0, 0, err
	}
	if err := whole.Close(); err != nil {
		return 0, 0, err
	}
	next := path + ".next"
	defer func() {
		if removed := os.Remove(next); err == nil && removed != nil && !errors.Is(removed, os.ErrNotExist) {
			err = fmt.Errorf("compact the log: %w", removed)
		}
	}()
	if err := copyPages(path, next); err != nil {
		return 0, 0, fmt.Errorf("compact the log: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return 0, 0, fmt.Errorf("compact the log: %w", err)
	}
	if _, err := journal.Create(filepath.Join(dir.path, journalName)); err != nil { // all of it is in raft.db
		return 0, 0, fmt.Errorf("compact the log: %w", err)
	}
	d, err := os.Open(dir.path)
	if err != nil {
		return 0, 0, fmt.Errorf("compact the log: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return 0, 0, fmt.Errorf("compact the log: %w", err)
	}
	done, err := os.Stat(path)
	if err != nil {
		return 0, 0, fmt.Errorf("look at the log: %w", err)
	}
	return info.Size(), done.Size(), nil
}

func copyPages(from, to string) (err error) {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	src, err := bbolt.Open(from, 0o600, &bbolt.Options{ReadOnly: true, Timeout: 2 * time.Second, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := bbolt.Open(to, 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = bbolt.Compact(dst, src, compactBatch)
	return errors.Join(err, dst.Sync(), dst.Close())
}
