//go:build unix

package ops

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// handBack gives what root has written in a data directory to whom the directory belongs:
// its node runs as that user, and could not open the files of another one.
func handBack(root string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(root)
	if err != nil {
		return fmt.Errorf("see whose the data directory is: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if its, ok := info.Sys().(*syscall.Stat_t); !ok || its.Uid != 0 {
			return nil
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
}
