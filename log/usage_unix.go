//go:build linux || darwin

package log

import (
	"io/fs"
	"syscall"
)

func identify(info fs.FileInfo) (fileID, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(s.Dev), s.Ino}, true
}

// occupied is what a file takes of its disk: Pebble lays claim to more for its write-ahead
// logs than is written, and the size of the file does not tell.
func occupied(info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return uint64(info.Size())
	}
	return uint64(s.Blocks) * 512 // whatever the size of the disk's own blocks is
}

// room is what is free on a path's disk, and its size.
func room(path string) (free, size uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
