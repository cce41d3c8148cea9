package fsm

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system that the store lies on: the disk, or memory.
func (m *Machine) FS() vfs.FS { return m.fs }

// Checkpoint writes exactly the applied state into a directory that must not
// exist yet. Files are shared with the store by hard links; only the write-ahead
// log of what was not flushed is copied, synced, for Raft may drop its own log
// before it. Flush just before makes that copy small. It must not run beside
// Apply.
func (m *Machine) Checkpoint(dir string) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	if err := m.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("write a checkpoint: %w", err)
	}
	return nil
}

// Flush writes what is in memory to the store's files, beside Apply and readers.
func (m *Machine) Flush() error {
	m.mu.RLock()
	if m.closed {
		m.mu.RUnlock()
		return ErrClosed
	}
	m.views.Add(1)
	db := m.db
	m.mu.RUnlock()
	defer m.views.Done()
	if err := db.Flush(); err != nil {
		return storageError("flush the index store", err)
	}
	return nil
}

// RestoreDir replaces the whole state by a checkpoint directory, which is
// consumed. The checkpoint is opened and looked at before the present state is
// touched; the swap is one rename, and a crash leaves either state whole. Views
// that are open are waited for.
func (m *Machine) RestoreDir(dir string) error {
	if err := m.inspect(dir); err != nil {
		return err
	}
	m.gate.Lock()
	defer m.gate.Unlock()
	m.views.Wait() // their readers may still take mu
	m.cleaner.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if err := errors.Join(m.pictures.leave(), m.db.Close()); err != nil {
		return fmt.Errorf("close the index store before a restore: %w", err)
	}
	if err := swapDirs(m.fs, m.dir, dir); err != nil {
		return errors.Join(err, m.open())
	}
	if err := m.open(); err != nil {
		return err
	}
	m.told, m.halted = 0, false
	m.hot.clear()
	m.policies.Add(1)
	m.announce()
	return nil
}

// inspect opens a checkpoint on its own and checks that its state can be read.
func (m *Machine) inspect(dir string) error {
	o := m.pebbleOptions(m.newHealth())
	o.Cache = nil
	o.ErrorIfNotExists = true
	db, err := pebble.Open(dir, o)
	if err != nil {
		return fmt.Errorf("open the checkpoint to be restored: %w", err)
	}
	_, err = loadState(db)
	return errors.Join(err, db.Close())
}

// swapDirs puts next in the place of live. Until the second rename is done, a
// start finds the old state under its second name and puts it back.
func swapDirs(fs vfs.FS, live, next string) error {
	old := live + ".old"
	if err := fs.RemoveAll(old); err != nil {
		return fmt.Errorf("make room for a restore: %w", err)
	}
	if err := fs.Rename(live, old); err != nil {
		return fmt.Errorf("set the old state aside: %w", err)
	}
	if err := fs.Rename(next, live); err != nil {
		return errors.Join(fmt.Errorf("put the restored state in place: %w", err), fs.Rename(old, live))
	}
	if err := syncDir(fs, filepath.Dir(live)); err != nil {
		return err
	}
	return fs.RemoveAll(old)
}

// recoverSwap finishes or undoes a restore that a crash interrupted.
func recoverSwap(fs vfs.FS, live string) error {
	old := live + ".old"
	if _, err := fs.Stat(old); err != nil {
		return nil
	}
	if _, err := fs.Stat(live); err == nil {
		return fs.RemoveAll(old)
	}
	if err := fs.Rename(old, live); err != nil {
		return fmt.Errorf("put the state back after an interrupted restore: %w", err)
	}
	return nil
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync a directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
