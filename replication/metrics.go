package replication

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the node's figures: histograms that are fed as things happen, and
// everything else read when it is asked for. No label has more than four values.
type metrics struct {
	node       *Node
	registered prometheus.Registerer

	commitTime   prometheus.Histogram
	groupSize    prometheus.Histogram
	applyTime    prometheus.Histogram
	snapshotTime prometheus.Histogram
	restoreTime  prometheus.Histogram
	elections    prometheus.Counter
	refused      prometheus.Counter
	lagging      prometheus.Counter
	read         []reading
}

// reading is a figure that is read when it is asked for.
type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	get  func() float64
}

const metricPrefix = "abagraph_raft_"

func newMetrics(n *Node) *metrics {
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: metricPrefix + name, Help: help, Buckets: buckets})
	}
	seconds := prometheus.ExponentialBuckets(0.0001, 2, 18) // 0.1 ms to 13 s
	long := prometheus.ExponentialBuckets(0.001, 3, 12)     // 1 ms to 3 min
	m := &metrics{
		node:         n,
		commitTime:   histogram("commit_seconds", "Time from proposing a log entry to its having been applied.", seconds),
		groupSize:    histogram("group_requests", "Requests in one log entry.", prometheus.ExponentialBuckets(1, 2, 11)),
		applyTime:    histogram("apply_seconds", "Time the state machine takes for the entries that are ready.", seconds),
		snapshotTime: histogram("snapshot_seconds", "Time to take a snapshot and trim the log.", long),
		restoreTime:  histogram("restore_seconds", "Time to restore the state from a snapshot.", long),
		elections: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "leaderships_total", Help: "Times that this node became the leader."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "queue_refused_total", Help: "Writes that found no place in the queue in front of the log."}),
		lagging: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "lag_refused_total", Help: "Writes that this node, as the leader, refused because its state machine was behind its log."}),
	}
	m.gauge("queue_requests", "Writes that wait to be proposed.", func() float64 { return float64(n.proposer.queue.len()) })
	m.gauge("term", "Raft's term.", func() float64 { return float64(n.raft.CurrentTerm()) })
	m.gauge("commit_index", "Last log entry known to be committed.", func() float64 { return float64(n.raft.CommitIndex()) })
	m.gauge("applied_index", "Last log entry that the state machine has.", func() float64 { return float64(n.machine.Position().Index) })
	m.gauge("lag_entries", "Committed entries that are not yet applied here.", func() float64 { return float64(n.lag()) })
	m.gauge("lag_bytes", "Bytes of those entries, as far as they came since the start.", func() float64 { return float64(n.backlog.bytes(n.raft.CommitIndex())) })
	m.gauge("snapshot_index", "Index of the newest snapshot.", func() float64 { return float64(n.snapshotIndex()) })
	m.gauge("log_bytes", "Bytes of the entries in the log.", func() float64 { return float64(n.store.Stats().LogBytes) })
	m.gauge("disk_free_bytes", "Bytes that are free on the disk of the data directory; 0 in memory and without a reserve.", func() float64 { return float64(n.room.free.Load()) })
	m.gauge("disk_short", "1 while the disk has less room than the reserve and the node takes no writes.", func() float64 {
		if n.room.short.Load() {
			return 1
		}
		return 0
	})
	m.gauge("peer_certificate_end_seconds", "When the certificate of the peer port ends, in Unix seconds; 0 without one.", n.certificateEnd)
	m.counter("log_writes_total", "Calls that wrote to the log, one sync of the disk each.", func() float64 { return float64(n.store.Stats().Calls) })
	m.counter("log_written_entries_total", "Entries written to the log.", func() float64 { return float64(n.store.Stats().Entries) })
	m.counter("log_written_bytes_total", "Bytes written to the log.", func() float64 { return float64(n.store.Stats().Bytes) })
	return m
}

func (m *metrics) gauge(name, help string, get func() float64) {
	m.read = append(m.read, reading{prometheus.NewDesc(metricPrefix+name, help, nil, nil), prometheus.GaugeValue, get})
}

func (m *metrics) counter(name, help string, get func() float64) {
	m.read = append(m.read, reading{prometheus.NewDesc(metricPrefix+name, help, nil, nil), prometheus.CounterValue, get})
}

var stateDesc = prometheus.NewDesc(metricPrefix+"state", "1 for the state that the node is in.", []string{"state"}, nil)

func (m *metrics) fed() []prometheus.Collector {
	return []prometheus.Collector{m.commitTime, m.groupSize, m.applyTime, m.snapshotTime, m.restoreTime, m.elections, m.refused, m.lagging}
}

// Describe lists the figures.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	out <- stateDesc
	for _, r := range m.read {
		out <- r.desc
	}
	for _, c := range m.fed() {
		c.Describe(out)
	}
}

// Collect reads the figures.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	now := m.node.raft.State()
	for _, s := range []raft.RaftState{raft.Follower, raft.Candidate, raft.Leader, raft.Shutdown} {
		v := 0.0
		if s == now {
			v = 1
		}
		out <- prometheus.MustNewConstMetric(stateDesc, prometheus.GaugeValue, v, s.String())
	}
	for _, r := range m.read {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.get())
	}
	for _, c := range m.fed() {
		c.Collect(out)
	}
}

func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	if err := r.Register(m); err != nil {
		var twice prometheus.AlreadyRegisteredError
		if errors.As(err, &twice) {
			return errors.New("two nodes share one metrics registry")
		}
		return fmt.Errorf("register the node's metrics: %w", err)
	}
	m.registered = r
	return nil
}

func (m *metrics) unregister() {
	if m.registered != nil {
		m.registered.Unregister(m)
	}
}
