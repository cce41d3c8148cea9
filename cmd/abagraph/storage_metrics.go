package main

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"

	"abagraph/fsm"
)

// storageCollector tells Pebble's own figures when the node is scraped.
type storageCollector struct {
	machine *fsm.Machine
	figures []figure
}

// figure is one of them.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*pebble.Metrics) float64
}

func newStorageCollector(machine *fsm.Machine) *storageCollector {
	c := &storageCollector{machine: machine}
	add := func(name, help string, kind prometheus.ValueType, read func(*pebble.Metrics) float64) {
		c.figures = append(c.figures, figure{prometheus.NewDesc("abagraph_pebble_"+name, help, nil, nil), kind, read})
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add("disk_bytes", "Bytes of the index store on disk.", gauge, func(m *pebble.Metrics) float64 { return float64(m.DiskSpaceUsage()) })
	add("tables", "Tables on disk.", gauge, func(m *pebble.Metrics) float64 { return float64(m.Total().TablesCount) })
	add("read_amplification", "Tables and memtables that a read may have to look at.", gauge, func(m *pebble.Metrics) float64 { return float64(m.ReadAmp()) })
	add("memtable_bytes", "Bytes of memtables.", gauge, func(m *pebble.Metrics) float64 { return float64(m.MemTable.Size) })
	add("compactions_total", "Compactions done.", counter, func(m *pebble.Metrics) float64 { return float64(m.Compact.Count) })
	add("compaction_debt_bytes", "Estimate of the bytes that await compaction.", gauge, func(m *pebble.Metrics) float64 { return float64(m.Compact.EstimatedDebt) })
	add("flushes_total", "Memtables flushed.", counter, func(m *pebble.Metrics) float64 { return float64(m.Flush.Count) })
	add("block_cache_bytes", "Bytes in the block cache.", gauge, func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Size) })
	add("block_cache_hits_total", "Blocks found in the cache.", counter, func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Hits) })
	add("block_cache_misses_total", "Blocks read from disk.", counter, func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Misses) })
	add("snapshots", "Snapshots of the store that are open: one for each state that a reader sees, and that of the present one.", gauge, func(m *pebble.Metrics) float64 { return float64(m.Snapshots.Count) })
	return c
}

// Describe implements prometheus.Collector.
func (c *storageCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range c.figures {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector. A store that is closed has none.
func (c *storageCollector) Collect(ch chan<- prometheus.Metric) {
	m, err := c.machine.Metrics()
	if err != nil {
		return
	}
	for _, f := range c.figures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(m))
	}
}
