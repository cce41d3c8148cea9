package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"abagraph/internal/otlp"
	"abagraph/internal/span"
)

// openTracer makes what traces go through; nil where none are wanted.
func (n *node) openTracer(s settings, logger *slog.Logger, registry *prometheus.Registry) (span.Tracer, error) {
	endpoint := s.get("otlp_endpoint")
	if endpoint == "" {
		return nil, nil
	}
	t, err := otlp.Open(context.Background(), otlp.Options{Endpoint: endpoint, Version: version, Node: cmp.Or(s.get("node_id"), s.get("bind")), Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	n.tracer = t
	for outcome, count := range map[string]func() uint64{
		"sent": func() uint64 { return t.Counts().Sent }, "dropped": func() uint64 { return t.Counts().Dropped }, "failed": func() uint64 { return t.Counts().Failed },
	} {
		err := registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "abagraph_trace_spans_total", Help: "Spans by what became of them: sent, dropped because too many waited, failed because the collector did not take them.",
			ConstLabels: prometheus.Labels{"outcome": outcome},
		}, func() float64 { return float64(count()) }))
		if err != nil {
			return nil, fmt.Errorf("register the metrics of traces: %w", err)
		}
	}
	return t, nil
}

func isCollector(value string) error {
	if value == "" {
		return nil
	}
	return otlp.Check(value)
}
