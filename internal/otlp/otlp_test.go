package otlp_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/internal/otlp"
	"abagraph/internal/otlp/collector"
	"abagraph/internal/span"
)

const (
	strangerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	strangerSpan  = "00f067aa0ba902b7"
)

func open(t *testing.T, endpoint string) (*otlp.Tracer, *strings.Builder) {
	t.Helper()
	var lines strings.Builder
	tracer, err := otlp.Open(t.Context(), otlp.Options{Endpoint: endpoint, Version: "1", Node: "n1", Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return tracer, &lines
}

// TestSpansArrive: a request's parts come below it, in the trace that it came with, and
// what another node does below its own; what a stranger does not trace is not traced.
func TestSpansArrive(t *testing.T) {
	c := collector.Start(t)
	tracer, _ := open(t, c.URL)
	r := tracer.Begin("POST /x", "00-"+strangerTrace+"-"+strangerSpan+"-01")
	ctx := span.With(t.Context(), r)
	inner, part := span.Start(ctx, "write", span.Client)
	part.Int("group", 7)
	now := time.Now()
	part.Past("wait", now.Add(-time.Second), now, "n", 3)
	place, kept := span.Of(inner).Wire()
	if !kept {
		t.Fatal("the part is kept nowhere")
	}
	there := tracer.Join("there", place)
	there.Fail("NoLeader")
	there.End(time.Now())
	part.End()
	span.Of(ctx).End()
	if tracer.Begin("quiet", "00-"+strangerTrace+"-"+strangerSpan+"-00") != nil {
		t.Error("what a caller does not trace is traced")
	}
	for _, odd := range []string{"", "x", "00-" + strangerTrace, "00-" + strings.Repeat("0", 32) + "-" + strangerSpan + "-01", strings.Repeat("0", 1<<16)} {
		if r := tracer.Begin("odd", odd); r == nil {
			t.Errorf("traceparent %.20q ends the trace", odd)
		} else {
			r.End(time.Now())
		}
	}
	tracer.Close()
	got := c.Of(t, strangerTrace, 4)
	for name, want := range map[string]string{
		"POST /x": "SERVER " + strangerSpan + " map[]", "write": "CLIENT " + got["POST /x"].ID + " map[group:7]",
		"wait": "INTERNAL " + got["write"].ID + " map[n:3]", "there": "SERVER " + got["write"].ID + " map[error.type:NoLeader]",
	} {
		if s := got[name]; fmt.Sprint(s.Kind, " ", s.Parent, " ", s.Attributes) != want || s.Failed != (name == "there") || s.Node != "n1" {
			t.Errorf("%s came as %+v, want %s", name, s, want)
		}
	}
	if got["wait"].Took != time.Second {
		t.Errorf("the past part took %v", got["wait"].Took)
	}
	if n := tracer.Counts(); n != (otlp.Counts{Sent: 9}) || c.Count() != 9 {
		t.Errorf("counted %+v, came %d", n, c.Count())
	}
}

// TestADeadCollectorHoldsNobodyUp: while it hangs, what finds no room is dropped and
// counted, nobody waits, and the end comes within its time; what it refuses is counted.
func TestADeadCollectorHoldsNobodyUp(t *testing.T) {
	c := collector.Start(t)
	release := c.Hang()
	defer release()
	tracer, lines := open(t, c.URL)
	const spans = 20_000
	slowest := time.Duration(0)
	for range spans {
		at := time.Now()
		tracer.Begin("x", "").End(at)
		slowest = max(slowest, time.Since(at))
	}
	n := tracer.Counts()
	if n.Dropped < spans/2 || n.Sent != 0 {
		t.Errorf("counted %+v of %d", n, spans)
	}
	ended := make(chan struct{})
	go func() {
		tracer.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("the end does not come (the slowest span took %v)", slowest)
	}
	if !strings.Contains(lines.String(), "abagraph.trace.error") {
		t.Errorf("nothing is told: %s", lines.String())
	}
	release()
	c.Answer(http.StatusBadRequest)
	refused, lines := open(t, c.URL)
	refused.Begin("x", "").End(time.Now())
	refused.Close()
	if n := refused.Counts(); n != (otlp.Counts{Failed: 1}) || !strings.Contains(lines.String(), "abagraph.trace.error") {
		t.Errorf("counted %+v of one that was refused: %s", n, lines.String())
	}
}

func TestEndpointsAreChecked(t *testing.T) {
	for endpoint, good := range map[string]bool{
		"http://127.0.0.1:4318": true, "https://collector.example/otlp/": true,
		"": false, "127.0.0.1:4318": false, "grpc://x:4317": false, "http://": false, "http://me:pw@x": false, "http://x/?a=b": false, "http://x/#y": false,
	} {
		if err := otlp.Check(endpoint); (err == nil) != good {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
