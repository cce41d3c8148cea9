package otlp_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

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

// TestNothingOfTheCollectorIsTold: a collector that echoes its key, in whatever part of
// its answer, or redirects to another host, gets it written nowhere and sent nowhere
// else; the line says in few words what was wrong.
func TestNothingOfTheCollectorIsTold(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=canary-key")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was sent %s", r.Header.Get("X-Key"))
	}))
	defer elsewhere.Close()
	for want, answer := range map[string]func(w http.ResponseWriter, key string){
		"status 401": func(w http.ResponseWriter, key string) { http.Error(w, key, http.StatusUnauthorized) },
		"status 429, 502": func(w http.ResponseWriter, key string) {
			w.Header().Set("Retry-After", "3600")
			http.Error(w, key, http.StatusServiceUnavailable)
		},
		"redirects to another host": func(w http.ResponseWriter, key string) {
			w.Header().Set("Location", elsewhere.URL+"/"+key)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"too long": func(w http.ResponseWriter, key string) {
			for range 1 << 10 {
				if _, err := io.WriteString(w, strings.Repeat(key, 1<<8)); err != nil {
					return
				}
			}
		},
		"did not take all": func(w http.ResponseWriter, key string) {
			body, err := proto.Marshal(&coltrace.ExportTraceServiceResponse{PartialSuccess: &coltrace.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: key}})
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(body)
		},
		"does not speak OTLP": func(w http.ResponseWriter, key string) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, key+" is what I say\r\n\r\n")
		},
	} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r.Header.Get("X-Key")) }))
		tracer, lines := open(t, site.URL)
		tracer.Begin("x", "").End(time.Now())
		tracer.Close()
		site.Close()
		if got := lines.String(); !strings.Contains(got, want) || strings.Contains(got, "canary") || len(got) > 400 || tracer.Counts().Failed != 1 {
			t.Errorf("%s: told %s, counted %+v", want, got, tracer.Counts())
		}
	}
}

// TestTheSDKsVariablesAreChecked: one that it cannot read ends the start in one line that
// names it and not its value, and the SDK itself writes none.
func TestTheSDKsVariablesAreChecked(t *testing.T) {
	for _, v := range []struct {
		name, value string
		good        bool
	}{
		{"OTEL_EXPORTER_OTLP_HEADERS", "canary-key", false}, {"OTEL_EXPORTER_OTLP_HEADERS", "canary key=x", false}, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=canary%zz", false},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%2Cb, y=z", true}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "canary", false}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "5000", true},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/canary", false}, {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/canary", false}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://canary\x7f", false},
		{"OTEL_TRACES_SAMPLER", "canary", false}, {"OTEL_TRACES_SAMPLER", "ParentBased_TraceIDRatio", true}, {"OTEL_TRACES_SAMPLER_ARG", "canary", false}, {"OTEL_TRACES_SAMPLER_ARG", "1.5", false},
		{"OTEL_TRACES_SAMPLER_ARG", "0.25", true}, {"OTEL_RESOURCE_ATTRIBUTES", "canary", false}, {"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=prod,team=a%20b", true},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Setenv(v.name, v.value)
			tracer, err := otlp.Open(t.Context(), otlp.Options{Endpoint: "http://127.0.0.1:1", Version: "1", Node: "n1", Logger: slog.New(slog.DiscardHandler)})
			if err == nil {
				tracer.Close()
			}
			if (err == nil) != v.good {
				t.Fatalf("%q: %v", v.value, err)
			}
			if err != nil && (!strings.Contains(err.Error(), v.name) || strings.Contains(err.Error(), "canary")) {
				t.Errorf("told as %v", err)
			}
		})
	}
}

// TestWorkOfTheNode: what the node does by itself is a trace of its own.
func TestWorkOfTheNode(t *testing.T) {
	c := collector.Start(t)
	tracer, _ := open(t, c.URL)
	ctx, part := span.Work(t.Context(), tracer, "work poll")
	_, inner := span.Start(ctx, "outbound GET", span.Client)
	inner.End()
	part.Fail("")
	part.End()
	tracer.Close()
	got := c.All(t, 2)
	if s := got["work poll"]; s.Kind != "INTERNAL" || s.Parent != "" || !s.Failed || s.Attributes["error.type"] != "_OTHER" || got["outbound GET"].Parent != s.ID {
		t.Errorf("came as %+v", got)
	}
}
