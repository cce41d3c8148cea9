package fsm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// storeFormat is the version of the store's layout. A store of another format
// is refused, never guessed at, but for those since oldestFormat.
//
// Format 3 has families that a program of format 2 does not know, and would leave
// behind in a purge: the audit trail and its chain, and documents. A store of format 2
// is one of format 3 that has none of them yet, so that it is taken on by its name.
const (
	storeFormat  = 3
	oldestFormat = 2
)

// checkKnown refuses a format that this program does not know.
func checkKnown(format int) error {
	if format < oldestFormat || format > storeFormat {
		return errFormat(format)
	}
	return nil
}

// formatName is a file beside the store's own that names its format: the state
// record does too, but the index engine changes files before it can be read.
const formatName = "FORMAT"

// errFormat refuses a store of another format.
func errFormat(format int) error {
	if format > storeFormat {
		return fact.Errorf(fact.StorageCorruption, "the store has format %d, of a later release; this program knows formats %d to %d only, and has changed nothing", format, oldestFormat, storeFormat)
	}
	return fact.Errorf(fact.StorageCorruption, "the store has format %d; this program knows formats %d to %d only", format, oldestFormat, storeFormat)
}

// checkFormat refuses a directory of an unknown format before anything in it is
// opened. One without the file is judged by its state record. named says that the file
// names this program's own format.
func checkFormat(disk vfs.FS, dir string) (named bool, err error) {
	path := disk.PathJoin(dir, formatName)
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the store's format: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, 64))
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("read the store's format: %w", err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || format < 1 {
		return false, fact.Errorf(fact.StorageCorruption, "the store's format cannot be read: %s is damaged", path)
	}
	return format == storeFormat, checkKnown(format)
}

// nameFormat writes the file, whole or not at all.
func nameFormat(disk vfs.FS, dir string) error {
	path := disk.PathJoin(dir, formatName)
	f, err := disk.Create(path+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write the store's format: %w", err)
	}
	_, err = f.Write([]byte(strconv.Itoa(storeFormat) + "\n"))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = disk.Rename(path+".tmp", path)
	}
	if err == nil {
		var d vfs.File
		if d, err = disk.OpenDir(dir); err == nil {
			err = errors.Join(d.Sync(), d.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("write the store's format: %w", err)
	}
	return nil
}
