package http

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"abagraph/fact"
	"abagraph/memory"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const metricsPath = "/metrics"

// metrics measures requests by route template, method and class of status:
// labels of which there are few. No tenant, subject, id or text is ever one.
type metrics struct {
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	handler  http.Handler
}

// routeMetrics are the metrics of one route, looked up once.
type routeMetrics struct {
	classes [6]prometheus.Counter // by the first digit of the status; 0 = none was sent
	latency prometheus.Observer
}

var classNames = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

func newMetrics(registry *prometheus.Registry, s *Server) (*metrics, error) {
	out := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "abagraph_http_requests_total", Help: "Requests by route template, method and class of status.",
		}, []string{"route", "method", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "abagraph_http_request_seconds", Help: "Time to answer a request, by route template and method.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route", "method"}),
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}),
	}
	subscribers := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "abagraph_stream_subscribers", Help: "Streams that are open on this node.",
	}, func() float64 { return float64(s.streams.open()) })
	for _, c := range [...]prometheus.Collector{out.requests, out.latency, subscribers, newFactsCollector(s.config.Memory), newRefusedCollector(s), newConnectionsCollector(s)} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of the HTTP server: %w", err)
		}
	}
	return out, nil
}

func (m *metrics) route(template, method string) *routeMetrics {
	rm := &routeMetrics{latency: m.latency.WithLabelValues(template, method)}
	for i, class := range classNames {
		rm.classes[i] = m.requests.WithLabelValues(template, method, class)
	}
	return rm
}

func (m *routeMetrics) observe(status int, took time.Duration) {
	class := status / 100
	if class < 0 || class >= len(m.classes) {
		class = 0
	}
	m.classes[class].Inc()
	m.latency.Observe(took.Seconds())
}

// factsCollector counts the whole store by status when it is scraped.
type factsCollector struct {
	memory *memory.Service
	desc   *prometheus.Desc
}

func newFactsCollector(m *memory.Service) *factsCollector {
	return &factsCollector{memory: m, desc: prometheus.NewDesc("abagraph_facts", "Facts in the whole store, by status.", []string{"status"}, nil)}
}

// Describe implements prometheus.Collector.
func (f *factsCollector) Describe(ch chan<- *prometheus.Desc) { ch <- f.desc }

// Collect implements prometheus.Collector. A store that cannot be read now has
// no figures; its errors are told elsewhere.
func (f *factsCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	stats, err := f.memory.StoreStats(ctx)
	if err != nil {
		return
	}
	for status, n := range map[fact.Status]uint64{
		fact.Active: stats.Active, fact.Candidate: stats.Candidate, fact.Superseded: stats.Superseded, fact.Retracted: stats.Retracted,
	} {
		ch <- prometheus.MustNewConstMetric(f.desc, prometheus.GaugeValue, float64(n), status.String())
	}
}

// serveMetrics is GET /metrics. It is open where the server is bound to
// loopback, and elsewhere needs the admin key: its figures are those of the
// whole store.
func (s *Server) serveMetrics(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	if !s.loopback {
		if err := c.authenticate(); err != nil {
			return c.turnAway(err)
		}
		if err := c.caller.RequireOperator(); err != nil {
			return err
		}
	}
	c.status = http.StatusOK
	s.metrics.handler.ServeHTTP(c.w, c.r)
	return nil
}
