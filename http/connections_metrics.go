package http

import "github.com/prometheus/client_golang/prometheus"

// connectionsCollector tells of the connections of a server that listens.
type connectionsCollector struct {
	server                       *Server
	open, most, refused, gaveWay *prometheus.Desc
}

func newConnectionsCollector(s *Server) *connectionsCollector {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return &connectionsCollector{
		server:  s,
		open:    desc("abagraph_http_connections", "Open connections to the API."),
		most:    desc("abagraph_http_connections_max", "Most connections to the API that are open at a time."),
		refused: desc("abagraph_http_connections_refused_total", "Connections that found no place (429)."),
		gaveWay: desc("abagraph_http_connections_gave_way_total", "Connections without a request that were closed to make place for a new one."),
	}
}

// Describe implements prometheus.Collector.
func (c *connectionsCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{c.open, c.most, c.refused, c.gaveWay} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *connectionsCollector) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(c.most, prometheus.GaugeValue, float64(c.server.config.MaxConnections))
	l := c.server.listener
	if l == nil {
		return // it serves on a listener of another's
	}
	ch <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(l.count()))
	ch <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(l.refused.Load()))
	ch <- prometheus.MustNewConstMetric(c.gaveWay, prometheus.CounterValue, float64(l.gaveWay.Load()))
}
