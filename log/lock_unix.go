//go:build unix

package log

import (
	"errors"
	"os"
	"syscall"
)

// errLocked tells that another process holds the lock.
var errLocked = errors.New("locked by another process")

// lockFile takes an exclusive lock that ends with the process, so that none is
// left behind by a crash.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
