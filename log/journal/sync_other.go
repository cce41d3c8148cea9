//go:build !linux

package journal

import "os"

// syncData waits until what was written is on the disk.
func syncData(f *os.File) error { return f.Sync() }

// openDirect has no such thing.
func openDirect(string) direct { return nil }
