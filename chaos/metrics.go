package chaos

import (
	"strconv"
	"strings"
)

// Metrics are figures of a node by name, labels included as they are written:
// abagraph_raft_state{state="Leader"}.
type Metrics map[string]float64

func parseMetrics(text string) Metrics {
	m := make(Metrics)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			m[line[:at]] = value
		}
	}
	return m
}
