package log

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Usage is what a data directory takes of its disk, in bytes. What cannot be known
// on a system is 0.
type Usage struct {
	Used uint64 // by the directory, with what files have laid claim to; those that share their content count once
	Free uint64 // for this process, on the disk
	Size uint64 // of the disk
}

// Usage measures the directory.
func (d *Dir) Usage() (Usage, error) {
	var u Usage
	seen := make(map[fileID]bool)
	err := filepath.WalkDir(d.path, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the node removes files while it works
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		id, known := identify(info)
		if known && seen[id] {
			return nil
		}
		seen[id] = known
		u.Used += occupied(info)
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("measure the data directory: %w", err)
	}
	u.Free, u.Size, err = room(d.path)
	if err != nil {
		return u, fmt.Errorf("measure the disk: %w", err)
	}
	return u, nil
}

// Free is how many bytes this process can still write to the directory's disk; on a
// system where that cannot be known it is 0, with an error.
func (d *Dir) Free() (uint64, error) {
	free, size, err := room(d.path)
	if err == nil && size == 0 {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return 0, fmt.Errorf("measure the disk: %w", err)
	}
	return free, nil
}

// fileID names a file's content, whatever it is called.
type fileID struct{ device, inode uint64 }
