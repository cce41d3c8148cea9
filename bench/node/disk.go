package node

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names of the folders and files in a node's data folder.
const (
	storeFolder     = "state"
	snapshotsFolder = "snapshots"
)

// Disk is what a node keeps on disk, in bytes.
type Disk struct {
	Store     int64 // the state machine's engine
	Snapshots int64 // what snapshots hold beyond the files they share with it
	Log       int64 // the log, and all else
}

// Disk measures the first node's data folder. A file that store and snapshots
// share by a hard link counts once, for the store.
func (c *Cluster) Disk() (Disk, error) {
	var d Disk
	seen := map[uint64]bool{}
	for _, of := range []struct {
		folder string
		skip   []string
		into   *int64
	}{
		{storeFolder, nil, &d.Store},
		{snapshotsFolder, nil, &d.Snapshots},
		{".", []string{storeFolder, snapshotsFolder}, &d.Log},
	} {
		size, err := measure(filepath.Join(c.Data(), of.folder), of.skip, seen)
		if err != nil {
			return d, err
		}
		*of.into = size
	}
	if d.Store == 0 {
		return d, fmt.Errorf("there is nothing in %s", filepath.Join(c.Data(), storeFolder))
	}
	return d, nil
}

func measure(dir string, skip []string, seen map[uint64]bool) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // removed since it was listed
		}
		if err != nil {
			return err
		}
		for _, other := range skip {
			if entry.IsDir() && name == filepath.Join(dir, other) {
				return filepath.SkipDir
			}
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && seen[stat.Ino] {
			return nil
		}
		if ok {
			seen[stat.Ino] = true
		}
		total += info.Size()
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", dir, err)
	}
	return total, nil
}
