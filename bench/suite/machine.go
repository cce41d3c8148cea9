package suite

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine describes what the figures come from, in one line.
func Machine(repo string) string {
	text := fmt.Sprintf("%d cores (%s), %s, %s", runtime.NumCPU(), model(), memory(), runtime.Version())
	command := exec.Command("git", "-C", repo, "rev-parse", "--short", "HEAD")
	if commit, err := command.Output(); err == nil {
		text += ", commit " + strings.TrimSpace(string(commit))
	}
	return text
}

// model is the processor's name, and "unknown" where Linux does not tell it.
func model() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func memory() string {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return "unknown memory"
	}
	var kilobytes float64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %f kB", &kilobytes); err != nil {
		return "unknown memory"
	}
	return fmt.Sprintf("%.0f GiB", kilobytes/(1<<20))
}
