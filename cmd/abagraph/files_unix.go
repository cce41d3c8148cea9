//go:build unix

package main

import (
	"math"
	"syscall"
)

// filesMax is how many files the process may have open. Go raises the limit to the
// hard one when it starts.
func filesMax() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
