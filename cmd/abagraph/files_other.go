//go:build !unix

package main

import "math"

// filesMax is how many files the process may have open: no limit that is known.
func filesMax() int64 { return math.MaxInt64 }
