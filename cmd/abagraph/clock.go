//go:build !chaos

package main

import "time"

// clock is the time that the node goes by: the system's.
func clock() time.Time { return time.Now() }
