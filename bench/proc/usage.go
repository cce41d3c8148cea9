package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of /proc/PID/stat on Linux, whatever the kernel's
// own tick is.
const ticksPerSecond = 100

// CPU returns the processor time that the processes have used so far.
func CPU(list ...*Process) time.Duration {
	var total time.Duration
	for _, p := range list {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			continue // it has ended; what it used is gone with it
		}
		// The command's name is in parentheses and may hold spaces.
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			continue
		}
		for _, field := range fields[11:13] { // user and system time
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err == nil {
				total += time.Duration(ticks) * time.Second / ticksPerSecond
			}
		}
	}
	return total
}

// Memory is what a process holds, in bytes.
type Memory struct {
	Resident int64 // now
	Peak     int64 // the most so far
}

// MemoryOf reads the memory of a process.
func MemoryOf(p *Process) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return Memory{}, fmt.Errorf("reading the memory of %s: %w", p.name, err)
	}
	var m Memory
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "VmRSS":
			m.Resident = kilobytes << 10
		case name == "VmHWM":
			m.Peak = kilobytes << 10
		}
	}
	return m, nil
}
