//go:build !chaos

package main

import "time"

// clock is the time that the node goes by: the system's.
func clock() time.Time { return time.Now() }

// checkInterval is how often the digests of all nodes are compared; 0 = as often as
// replication does by itself.
const checkInterval = 0
