package http

import (
	"github.com/prometheus/client_golang/prometheus"
)

// refusedCollector counts what was refused to protect other tenants. Whose it was is
// no label.
type refusedCollector struct {
	server *Server
	desc   *prometheus.Desc
}

func newRefusedCollector(s *Server) *refusedCollector {
	return &refusedCollector{server: s, desc: prometheus.NewDesc("abagraph_refused_total",
		"Requests that were refused (429) to protect other tenants, by reason.", []string{"reason"}, nil)}
}

// Describe implements prometheus.Collector.
func (r *refusedCollector) Describe(ch chan<- *prometheus.Desc) { ch <- r.desc }

// Collect implements prometheus.Collector.
func (r *refusedCollector) Collect(ch chan<- prometheus.Metric) {
	seen := r.server.config.Memory.Refusals()
	for reason, n := range map[string]uint64{"requests": seen.Requests, "rows": seen.Rows, "heavy_reads": seen.Heavy, "streams": r.server.streams.refused.Load(), "answers": r.server.answers.refused.Load()} {
		ch <- prometheus.MustNewConstMetric(r.desc, prometheus.CounterValue, float64(n), reason)
	}
}
