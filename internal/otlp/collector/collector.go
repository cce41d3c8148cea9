package collector

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one span as it came.
type Span struct {
	Node       string // service.instance.id
	Name       string
	Kind       string // Server, Client or Internal
	Trace      string
	ID, Parent string // "" = none
	Attributes map[string]string
	Failed     bool
	Took       time.Duration
}

// Collector takes spans while a test runs.
type Collector struct {
	URL string

	mu    sync.Mutex
	spans []Span
	text  strings.Builder // all that came, for a look at what must not be in it
	bad   []string
	// answer is the status that senders are given; hang, where it is set, holds them up.
	answer int
	hang   chan struct{}
}

// Start takes spans until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{answer: http.StatusOK}
	server := httptest.NewServer(c)
	c.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, problem := range c.bad {
			t.Error(problem)
		}
	})
	return c
}

// Answer sets the status that senders are given from now on.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = status
}

// Hang holds every sender up until release is called.
func (c *Collector) Hang() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hang := make(chan struct{})
	c.hang = hang
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hang = nil
		close(hang)
	})
}

// ServeHTTP is POST /v1/traces.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q coltrace.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &q)
	}
	c.mu.Lock()
	hang, answer := c.hang, c.answer
	if err != nil || r.URL.Path != "/v1/traces" {
		c.bad = append(c.bad, fmt.Sprintf("a sender sent %s to %s: %v", r.Method, r.URL.Path, err))
	}
	c.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if answer == http.StatusOK {
		c.take(&q)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.WriteHeader(answer)
}

func (c *Collector) take(q *coltrace.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.WriteString(q.String())
	for _, of := range q.ResourceSpans {
		node := attributes(of.Resource.GetAttributes())["service.instance.id"]
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, read(node, s))
			}
		}
	}
}

func read(node string, s *trace.Span) Span {
	return Span{
		Node: node, Name: s.Name, Kind: strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId),
		Parent: hex.EncodeToString(s.ParentSpanId), Attributes: attributes(s.Attributes), Failed: s.Status.GetCode() == trace.Status_STATUS_CODE_ERROR,
		Took: time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano),
	}
}

func attributes(list []*common.KeyValue) map[string]string {
	of := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			of[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			of[a.Key] = fmt.Sprint(v.IntValue)
		}
	}
	return of
}

// Of waits until so many spans of a trace have come, and returns them by name.
func (c *Collector) Of(t testing.TB, trace string, n int) map[string]Span {
	t.Helper()
	return c.wait(t, n, func(s *Span) bool { return s.Trace == trace })
}

// All waits until so many spans have come, of whatever trace, and returns them by name.
func (c *Collector) All(t testing.TB, n int) map[string]Span {
	t.Helper()
	return c.wait(t, n, func(*Span) bool { return true })
}

// Named waits until a span of a name has come, and returns the spans of its trace by
// name.
func (c *Collector) Named(t testing.TB, name string) map[string]Span {
	t.Helper()
	return c.Of(t, c.wait(t, 1, func(s *Span) bool { return s.Name == name })[name].Trace, 1)
}

func (c *Collector) wait(t testing.TB, n int, wanted func(*Span) bool) map[string]Span {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		of, came := map[string]Span{}, 0
		c.mu.Lock()
		for i := range c.spans {
			if s := &c.spans[i]; wanted(s) {
				of[s.Name] = *s
				came++
			}
		}
		c.mu.Unlock()
		if came >= n {
			return of
		}
		if time.Now().After(deadline) {
			t.Fatalf("there came %v, want %d spans", of, n)
		}
	}
}

// Count tells how many spans have come.
func (c *Collector) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.spans)
}

// Text is all that came, as text.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
