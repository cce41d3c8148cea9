package main

import (
	"os"
	"runtime/debug"
)

// A node that is built without C keeps Pebble's cache and memtables on the
// collector's heap. They live long, and collecting each time the rest has
// doubled would cost more than the memory is worth: the heap may grow to five
// times what lives, but not beyond a bound.
const (
	collectAt   = 400     // percent of growth
	collectHard = 1 << 30 // bytes at which the collector works as hard as it must
)

// tuneCollector sets the garbage collector, unless the environment does.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectHard)
	}
}
