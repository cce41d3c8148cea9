package fsm

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// stopper ends the process, or the test, when the store cannot go on.
type stopper func(message string)

// stop tells why in one line. It does not return.
func (s stopper) stop(message string) {
	message = "the index store cannot go on: " + strings.Join(strings.Fields(message), " ")
	if s != nil {
		s(message)
	}
	panic(message)
}

// watchedFS is the file system as Pebble uses it. Where the disk takes no more,
// Pebble tries a flush again and again without an end, or panics in a goroutine
// of its own, depending on which write met it first; here the first one that is
// refused ends the node.
type watchedFS struct {
	vfs.FS
	stopper stopper
}

func (w watchedFS) look(err error) {
	if takesNoMore(err) {
		w.stopper.stop(err.Error())
	}
}

// takesNoMore reports whether an error says that the disk is full, in its other
// guises (a quota, a limit on the size of files) too, or broken.
func takesNoMore(err error) bool {
	for _, errno := range [...]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func (w watchedFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		w.look(err)
		return nil, err
	}
	return watchedFile{f, w}, nil
}

func (w watchedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := w.FS.Create(name, category)
	w.lookAtLog(name, err)
	return w.file(f, err)
}

// lookAtLog ends the node where there can be no next write-ahead log, whatever the
// reason: Pebble panics then.
func (w watchedFS) lookAtLog(name string, err error) {
	if err != nil && strings.HasSuffix(name, ".log") {
		w.stopper.stop(err.Error())
	}
}

func (w watchedFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return w.file(w.FS.OpenReadWrite(name, category, options...))
}

func (w watchedFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := w.FS.ReuseForWrite(old, name, category)
	w.lookAtLog(name, err)
	return w.file(f, err)
}

func (w watchedFS) OpenDir(name string) (vfs.File, error) { return w.file(w.FS.OpenDir(name)) }

func (w watchedFS) Link(old, name string) error {
	err := w.FS.Link(old, name)
	w.look(err)
	return err
}

func (w watchedFS) Rename(old, name string) error {
	err := w.FS.Rename(old, name)
	w.look(err)
	return err
}

func (w watchedFS) MkdirAll(dir string, mode os.FileMode) error {
	err := w.FS.MkdirAll(dir, mode)
	w.look(err)
	return err
}

// watchedFile is a file that is written.
type watchedFile struct {
	vfs.File
	fs watchedFS
}

func (f watchedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.fs.look(err)
	return n, err
}

func (f watchedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.fs.look(err)
	return n, err
}

func (f watchedFile) Sync() error {
	err := f.File.Sync()
	f.fs.look(err)
	return err
}

func (f watchedFile) SyncData() error {
	err := f.File.SyncData()
	f.fs.look(err)
	return err
}

func (f watchedFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.fs.look(err)
	return full, err
}

// health is what an open store told of itself.
type health struct {
	to      *slog.Logger
	stopper stopper
	damage  atomic.Pointer[string] // the first that was met
	told    sync.Map               // by path: damage that was logged
	failed  atomic.Int64           // work in the background, since some has succeeded
}

// maxFailures is how often work in the background may fail in a row. Pebble tries it
// again at once, some thousand times a second.
const maxFailures = 20_000

// Infof, Errorf and Fatalf are Pebble's logger.
func (h *health) Infof(format string, args ...any) {
	if h.to != nil {
		h.to.Debug("abagraph.pebble", "message", fmt.Sprintf(format, args...))
	}
}

func (h *health) Errorf(format string, args ...any) {
	if h.to != nil {
		h.to.Error("abagraph.pebble", "message", fmt.Sprintf(format, args...))
	}
}

// Fatalf is called by Pebble when it cannot go on; there is no way to return.
func (h *health) Fatalf(format string, args ...any) {
	h.stopper.stop(fmt.Sprintf(format, args...))
}

// damaged tells of a table that is not what was written, once. The read that met it
// fails with StorageCorruption, and a write that did stops the node; what the
// damage does not touch can still be read.
func (h *health) damaged(info pebble.DataCorruptionInfo) {
	what := firstLine(info.Details)
	h.damage.CompareAndSwap(nil, &what)
	if _, told := h.told.LoadOrStore(info.Path, true); h.to != nil && !told {
		h.to.Error("abagraph.store.damaged", "path", info.Path, "error", what)
	}
}

// troubled is told of every flush and compaction that failed. Damage is told of
// already. Whatever else it is, a missing directory or a process out of files, Pebble
// tries again without a pause and without an end (github.com/cockroachdb/pebble/issues/6139):
// it is logged once, and ends the node if it stays.
func (h *health) troubled(err error) {
	if pebble.IsCorruptionError(err) {
		return
	}
	switch h.failed.Add(1) {
	case 1:
		h.Errorf("%s", firstLine(err))
	case maxFailures:
		h.stopper.stop(firstLine(err))
	}
}

func (h *health) succeeded(err error) {
	if err == nil {
		h.failed.Store(0)
	}
}

// listener has Pebble tell of all that.
func (h *health) listener() *pebble.EventListener {
	return &pebble.EventListener{
		DataCorruption:  h.damaged,
		BackgroundError: h.troubled,
		FlushEnd:        func(info pebble.FlushInfo) { h.succeeded(info.Err) },
		CompactionEnd:   func(info pebble.CompactionInfo) { h.succeeded(info.Err) },
	}
}
