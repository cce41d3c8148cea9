package otlp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
)

// Bounds of what waits and of what is sent at once.
const (
	queueSpans = 4096
	batchSpans = 512
	batchWait  = time.Second
	sendTime   = 10 * time.Second
	// complainEach is how often a collector that does not answer is told of.
	complainEach = time.Minute
)

// Counts are what became of the spans so far.
type Counts struct {
	Sent    uint64
	Dropped uint64 // they found no room
	Failed  uint64 // the collector did not take them
}

// queue takes spans that have ended and sends them in batches.
type queue struct {
	exporter trace.SpanExporter
	logger   *slog.Logger
	spans    chan trace.ReadOnlySpan
	flush    chan chan struct{}
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once
	// sending ends what is under way when the time of a shutdown is up.
	sending context.Context
	cancel  context.CancelFunc

	sent, dropped, failed atomic.Uint64
	complained            time.Time
}

func newQueue(e trace.SpanExporter, logger *slog.Logger) *queue {
	q := &queue{
		exporter: e, logger: logger, spans: make(chan trace.ReadOnlySpan, queueSpans),
		flush: make(chan chan struct{}), stop: make(chan struct{}), done: make(chan struct{}),
	}
	q.sending, q.cancel = context.WithCancel(context.Background())
	go q.run()
	return q
}

// OnStart has nothing to do.
func (q *queue) OnStart(context.Context, trace.ReadWriteSpan) {}

// OnEnd takes a span, or drops it.
func (q *queue) OnEnd(s trace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

func (q *queue) run() {
	defer close(q.done)
	ticker := time.NewTicker(batchWait)
	defer ticker.Stop()
	batch := make([]trace.ReadOnlySpan, 0, batchSpans)
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) == batchSpans {
				batch = q.send(batch)
			}
		case <-ticker.C:
			batch = q.send(batch)
		case told := <-q.flush:
			batch = q.drain(batch)
			close(told)
		case <-q.stop:
			q.drain(batch)
			return
		}
	}
}

// drain sends all that waits.
func (q *queue) drain(batch []trace.ReadOnlySpan) []trace.ReadOnlySpan {
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) == batchSpans {
				batch = q.send(batch)
			}
		default:
			return q.send(batch)
		}
	}
}

// send sends a batch and empties it.
func (q *queue) send(batch []trace.ReadOnlySpan) []trace.ReadOnlySpan {
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(q.sending, sendTime)
	defer cancel()
	if err := q.exporter.ExportSpans(ctx, batch); err != nil {
		q.failed.Add(uint64(len(batch)))
		if now := time.Now(); now.Sub(q.complained) >= complainEach {
			q.complained = now
			q.logger.Warn("abagraph.trace.error", "error", told(err), "failed", q.failed.Load(), "dropped", q.dropped.Load())
		}
	} else {
		q.sent.Add(uint64(len(batch)))
	}
	clear(batch)
	return batch[:0]
}

// ForceFlush sends what waits.
func (q *queue) ForceFlush(ctx context.Context) error {
	told := make(chan struct{})
	select {
	case q.flush <- told:
	case <-q.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown sends what waits until the context ends, and then lets it go.
func (q *queue) Shutdown(ctx context.Context) error {
	q.once.Do(func() { close(q.stop) })
	select {
	case <-q.done:
		q.cancel()
		return q.exporter.Shutdown(ctx)
	case <-ctx.Done():
	}
	q.cancel()
	<-q.done
	_ = q.exporter.Shutdown(ctx) // its time is up, which is told already
	return ctx.Err()
}

func (q *queue) counts() Counts {
	return Counts{Sent: q.sent.Load(), Dropped: q.dropped.Load(), Failed: q.failed.Load()}
}
