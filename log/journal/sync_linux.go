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
