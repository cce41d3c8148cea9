package mask_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the time that this process has had of its cores: what else the machine
// does is no part of it.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
