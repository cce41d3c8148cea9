package log

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The names of what lies in a data directory.
const (
	lockName      = "LOCK"
	identityName  = "node.json"
	storeName     = "raft.db"
	journalName   = "raft.journal"
	snapshotsName = "snapshots"
	stateName     = "state"
)

// ours are the names that a directory may hold before it has an identity:
// a first start may have been interrupted after any of them was made.
var ours = map[string]bool{
	lockName: true, storeName: true, journalName: true, journalName + ".next": true, snapshotsName: true, stateName: true, "lost+found": true,
}

// Dir is a claimed data directory. While it is held no other process may use
// the directory.
type Dir struct {
	path string
	lock *os.File
}

// Claim makes the data directory if there is none, checks that it is empty or
// holds a node's data, and locks it against every other process. The error is
// one clear line: the directory is in use, or belongs to something else. Close
// releases it.
func Claim(path string) (*Dir, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the data directory %s: %w", path, err)
	}
	if err := os.MkdirAll(full, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if err := checkForeign(full); err != nil {
		return nil, err
	}
	lock, err := acquire(filepath.Join(full, lockName))
	if err != nil {
		return nil, err
	}
	return &Dir{path: full, lock: lock}, nil
}

// Lock locks a directory that is there, whatever it holds: for who puts a whole
// directory in place of another.
func Lock(path string) (*Dir, error) {
	lock, err := acquire(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, lock: lock}, nil
}

// checkForeign refuses a directory that holds something, but no node's data.
func checkForeign(path string) error {
	if _, err := os.Stat(filepath.Join(path, identityName)); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the data directory: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("read the data directory: %w", err)
	}
	for _, e := range entries {
		if !ours[e.Name()] && !strings.HasPrefix(e.Name(), identityName) {
			return fmt.Errorf("%s is not an abagraph data directory: it holds %q and no %s; choose an empty one",
				path, e.Name(), identityName)
		}
	}
	return nil
}

// acquire takes the lock file and leaves the process id in it, for the message
// that the next process shows.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := lockFile(f); err != nil {
		holder, _ := os.ReadFile(path)
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("the data directory %s is in use by another process (%s)",
				filepath.Dir(path), holderName(holder))
		}
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	if _, err := f.WriteAt([]byte(fmt.Sprintf("pid %d\n", os.Getpid())), 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	return f, nil
}

func holderName(content []byte) string {
	if name := strings.TrimSpace(string(content)); name != "" && len(name) < 64 {
		return name
	}
	return "its pid is unknown"
}

// Path returns the directory itself.
func (d *Dir) Path() string { return d.path }

// State returns where the state machine keeps its data.
func (d *Dir) State() string { return filepath.Join(d.path, stateName) }

// Snapshots returns where snapshots are kept.
func (d *Dir) Snapshots() string { return filepath.Join(d.path, snapshotsName) }

// Identity returns the file that says whose data this is.
func (d *Dir) Identity() string { return filepath.Join(d.path, identityName) }

// Close releases the directory. The lock file stays, unlocked.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	if err != nil {
		return fmt.Errorf("release the data directory: %w", err)
	}
	return nil
}
