package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A node that is built without C keeps Pebble's cache and memtables on the
// collector's heap. They live long, and collecting each time the rest has
// doubled would cost more than the memory is worth: a small heap may grow to
// five times what lives. A large one, that of a node with the indexes of
// millions of facts, grows as Go's own default lets it. No fixed limit is set: a
// heap that lives above one would be collected without end.
const (
	growthMost  = 400     // percent
	growthLeast = 100     // percent
	growthStep  = 50      // percent, so that it is not set anew for every little change
	heapEasy    = 1 << 30 // bytes up to which more growth than the least is given
	heapLook    = time.Second
)

// growth returns by how many percent a heap may grow of which so many bytes live.
func growth(live uint64) int {
	if live == 0 {
		return growthMost
	}
	room := (heapEasy - min(live, heapEasy)) * 100 / live / growthStep * growthStep
	return int(min(max(room, growthLeast), growthMost))
}

// tuneCollector sets the garbage collector to what lives, until the context ends;
// an operator who sets GOGC decides alone.
func tuneCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := growthMost
	debug.SetGCPercent(percent)
	go func() {
		tick := time.NewTicker(heapLook)
		defer tick.Stop()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			metrics.Read(live)
			if want := growth(live[0].Value.Uint64()); want != percent {
				percent = want
				debug.SetGCPercent(percent)
			}
		}
	}()
}
