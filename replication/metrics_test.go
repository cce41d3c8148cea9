package replication

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetricsAreInjected(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	c := newCluster(t, func(o *Options) { o.Registerer = registry })
	m := c.start("n1", c.disk("n1"), "")
	for i := range 5 {
		m.mustWrite(t, write("Lamp:l", i))
	}
	// A write is answered before the store has it.
	eventually(t, "the state has every write", func() bool { return m.lag() == 0 })
	values := gather(t, registry)
	for name, want := range map[string]float64{
		"abagraph_raft_group_requests": 5, "abagraph_raft_lag_entries": 0,
		"abagraph_raft_leaderships_total": 1, "abagraph_raft_queue_requests": 0,
	} {
		if values[name] != want {
			t.Errorf("%s = %v, want %v", name, values[name], want)
		}
	}
	if values["abagraph_raft_log_writes_total"] < 6 || values["abagraph_raft_applied_index"] < 7 {
		t.Errorf("too little: %v", values)
	}
	// Another node on the same registry is refused; after Close there is room.
	o := testOptions("n2")
	o.Registerer = registry
	second := &member{id: "n2"}
	if err := second.open(o); err == nil {
		second.stop(t)
		t.Fatal("two nodes share a registry")
	}
	m.stop(t)
	c.start("n1", m.path, "")
}

// gather returns each figure; of a histogram the number of observations, of a
// figure with labels the sum.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if len(f.Metric) > 4 {
			t.Errorf("%s has %d series", f.GetName(), len(f.Metric))
		}
		for _, m := range f.Metric {
			out[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}
