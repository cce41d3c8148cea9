//go:build chaos

package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// clock is the system's time, and as many milliseconds more as the file says that
// ABAGRAPH_CHAOS_CLOCK names: it is how package chaos has the clock of one node step.
// Only a program that is built with the tag chaos has it.
func clock() time.Time {
	now := time.Now()
	raw, err := os.ReadFile(os.Getenv("ABAGRAPH_CHAOS_CLOCK"))
	if err != nil {
		return now
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return now
	}
	return now.Add(time.Duration(ms) * time.Millisecond)
}

// checkInterval has the digests compared so often that an attack of a minute meets many
// comparisons, in the middle of everything.
const checkInterval = time.Second
