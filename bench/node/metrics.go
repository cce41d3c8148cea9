package node

import (
	"fmt"
	"strconv"
	"strings"

	"abagraph/bench/rest"
)

// Names of the metrics that are read, as docs/OPERATIONS.md lists them.
const (
	stateMetric     = "abagraph_raft_state"
	storeCalls      = "abagraph_raft_log_writes_total"
	groupRequests   = "abagraph_raft_group_requests_sum"
	snapshotSeconds = "abagraph_raft_snapshot_seconds"
)

// Figures are the samples of one scrape of /metrics, by their series: the name
// and, where it has any, its labels in braces.
type Figures map[string]float64

// Scrape reads the metrics of a node.
func Scrape(address string) (Figures, error) {
	conn, err := rest.Dial(address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	status, body, err := conn.Do("GET", "/metrics", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics: %w", err)
	}
	if status != 200 {
		return nil, fmt.Errorf("GET /metrics answers %d", status)
	}
	return parseFigures(string(body)), nil
}

func parseFigures(text string) Figures {
	figures := Figures{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		cut := strings.LastIndexByte(line, ' ')
		if line == "" || line[0] == '#' || cut < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(line[cut+1:], 64); err == nil {
			figures[line[:cut]] = value
		}
	}
	return figures
}

// Sum adds up every series of a name, whatever its labels.
func (f Figures) Sum(name string) float64 {
	total := 0.0
	for series, value := range f {
		if series == name || strings.HasPrefix(series, name+"{") {
			total += value
		}
	}
	return total
}

// Has reports whether a series of the name is there.
func (f Figures) Has(name string) bool {
	for series := range f {
		if series == name || strings.HasPrefix(series, name+"{") {
			return true
		}
	}
	return false
}

// Leads reports whether the node says that it leads.
func (f Figures) Leads() bool {
	for series, value := range f {
		if value == 1 && strings.HasPrefix(series, stateMetric+"{") && strings.Contains(strings.ToLower(series), `"leader"`) {
			return true
		}
	}
	return false
}

// Snapshots is how many snapshots the node has taken since it started.
func (f Figures) Snapshots() float64 { return f.Sum(snapshotSeconds + "_count") }

// SnapshotSeconds is how long they took together.
func (f Figures) SnapshotSeconds() float64 { return f.Sum(snapshotSeconds + "_sum") }

// Syncs returns how many requests were written to the log so far, and by how
// many synced writes of it.
func (f Figures) Syncs() (requests, calls float64, err error) {
	for _, name := range []string{groupRequests, storeCalls} {
		if !f.Has(name) {
			return 0, 0, fmt.Errorf("the node has no metric %s", name)
		}
	}
	return f.Sum(groupRequests), f.Sum(storeCalls), nil
}
