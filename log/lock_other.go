//go:build !unix

package log

import (
	"errors"
	"os"
)

// errLocked tells that another process holds the lock.
var errLocked = errors.New("locked by another process")

// lockFile does nothing here: the lock that bbolt takes on raft.db is what keeps
// a second process out on such systems.
func lockFile(*os.File) error { return nil }
