package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncData waits until what was written is on the disk; of what the file system knows
// of the file nothing has changed but times, which need not be.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// openDirect opens a file past the system's cache, each write of which is on the disk
// when it returns; nil where its file system has no such thing.
func openDirect(path string) direct {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_DIRECT|syscall.O_DSYNC, 0)
	if err != nil {
		return nil
	}
	return f
}
