package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"abagraph/internal/span"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options are what a Tracer needs.
type Options struct {
	// Endpoint is the collector's address, to which /v1/traces is added.
	Endpoint string
	Version  string
	// Node names this process among those of its service.
	Node   string
	Logger *slog.Logger
}

// Tracer sends spans. Close ends it.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	queue    *queue
}

// Check refuses an address of no collector.
func Check(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be the address of a collector, such as http://127.0.0.1:4318")
	}
	if u.User != nil {
		return errors.New("must hold no user and password: give them in OTEL_EXPORTER_OTLP_HEADERS")
	}
	return nil
}

// Open begins to send. It does not wait for the collector.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if err := Check(o.Endpoint); err != nil {
		return nil, err
	}
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.Endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithProxy(only(o.Endpoint)), otlptracehttp.WithMaxResponseSize(maxAnswer),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendTime}),
	)
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "abagraph"), attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Node)),
		resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("describe the service: %w", err), exporter.Shutdown(ctx))
	}
	q := newQueue(exporter, o.Logger)
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(q), sdk.WithResource(res))
	return &Tracer{provider: provider, tracer: provider.Tracer("abagraph", trace.WithInstrumentationVersion(o.Version)), queue: q}, nil
}

// maxAnswer bounds what is read of a collector's answer, in bytes.
const maxAnswer = 64 << 10

// only lets requests go to the collector and nowhere else: it is asked before each one
// is sent, those that follow a redirect too, which would carry the collector's key
// along. No proxy is used, whatever the environment says.
func only(endpoint string) func(*http.Request) (*url.URL, error) {
	collector, err := url.Parse(endpoint)
	return func(r *http.Request) (*url.URL, error) {
		if err != nil || r.URL.Scheme != collector.Scheme || r.URL.Host != collector.Host {
			return nil, errElsewhere
		}
		return nil, nil
	}
}

var errElsewhere = errors.New("the collector redirects to another host")

// closeTime is how long the end waits for the last spans to be sent.
const closeTime = 3 * time.Second

// Close sends what waits, for a while. A collector that does not answer is told of, and
// is no error of the node's.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.queue.logger.Warn("abagraph.trace.error", "error", err.Error(), "failed", t.Counts().Failed, "dropped", t.Counts().Dropped)
	}
}

// Counts tells what became of the spans so far.
func (t *Tracer) Counts() Counts { return t.queue.counts() }

// Begin is of span.Tracer. What a stranger's tracestate says is not taken over.
func (t *Tracer) Begin(name, traceparent string) span.Recorder {
	ctx := context.Background()
	if traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
	}
	return t.begin(ctx, name, trace.SpanKindServer)
}

// Join is of span.Tracer.
func (t *Tracer) Join(name string, parent span.Wire) span.Recorder {
	var c trace.SpanContextConfig
	copy(c.TraceID[:], parent[:16])
	copy(c.SpanID[:], parent[16:24])
	c.TraceFlags, c.Remote = trace.TraceFlags(parent[24])&trace.FlagsSampled, true
	return t.begin(trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(c)), name, trace.SpanKindServer)
}

// Work is of span.Tracer.
func (t *Tracer) Work(name string) span.Recorder {
	return t.begin(context.Background(), name, trace.SpanKindInternal)
}

func (t *Tracer) begin(ctx context.Context, name string, kind trace.SpanKind) span.Recorder {
	ctx, s := t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	if !s.IsRecording() {
		return nil
	}
	return &recorder{t: t.tracer, ctx: ctx, s: s}
}

// recorder is one span.
type recorder struct {
	t   trace.Tracer
	ctx context.Context // that lies in the span
	s   trace.Span
}

var kinds = [...]trace.SpanKind{span.Internal: trace.SpanKindInternal, span.Server: trace.SpanKindServer, span.Client: trace.SpanKindClient}

func (r *recorder) Child(name string, kind span.Kind, at time.Time) span.Recorder {
	ctx, s := r.t.Start(r.ctx, name, trace.WithSpanKind(kinds[kind]), trace.WithTimestamp(at))
	return &recorder{t: r.t, ctx: ctx, s: s}
}

func (r *recorder) Text(name, value string) { r.s.SetAttributes(attribute.String(name, value)) }

func (r *recorder) Int(name string, n int64) { r.s.SetAttributes(attribute.Int64(name, n)) }

func (r *recorder) Fail(code string) {
	r.s.SetAttributes(attribute.String("error.type", code))
	r.s.SetStatus(codes.Error, code)
}

func (r *recorder) End(at time.Time) { r.s.End(trace.WithTimestamp(at)) }

func (r *recorder) Wire() span.Wire {
	var w span.Wire
	c := r.s.SpanContext()
	id, own := c.TraceID(), c.SpanID()
	copy(w[:16], id[:])
	copy(w[16:24], own[:])
	w[24] = byte(c.TraceFlags())
	return w
}
