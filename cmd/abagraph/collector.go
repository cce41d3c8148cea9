package main

import (
	"os"
	"runtime/debug"
)

// Most of a node's memory is Pebble's and not the collector's business. What is
// left is small, and collecting it each time it has doubled would cost more
// than the memory is worth: it may grow to five times, but not beyond a bound.
const (
	collectAt   = 400       // percent of growth
	collectHard = 768 << 20 // bytes at which the collector works as hard as it must
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
