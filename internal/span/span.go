package span

import (
	"context"
	"time"
)

// Kind says where a part stands between this process and others.
type Kind uint8

// The kinds.
const (
	Internal Kind = iota
	Server        // answers another process
	Client        // asks another process
)

// WireBytes is the size of a span's place in its trace, as nodes send it to each other.
const WireBytes = 25

// Wire is a span's place in its trace: the id of the trace, its own, and the flags.
type Wire [WireBytes]byte

// Tracer begins the spans that no other one of this process stands above. Both answer
// nil where the trace is not to be kept.
type Tracer interface {
	// Begin begins the span of a request from outside, with its traceparent header, ""
	// = none.
	Begin(name, traceparent string) Recorder
	// Join begins the span of what another node asks, below the one there.
	Join(name string, parent Wire) Recorder
	// Work begins the span of what the node does by itself.
	Work(name string) Recorder
}

// Recorder keeps one span. It is safe for concurrent use.
type Recorder interface {
	Child(name string, kind Kind, at time.Time) Recorder
	Text(name, value string)
	Int(name string, n int64)
	// Fail tells that it failed, with a code.
	Fail(code string)
	End(at time.Time)
	Wire() Wire
}

type key struct{}

// With returns a context in which the spans below a recorder's are begun.
func With(ctx context.Context, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, r)
}

// Span is a part of what is done. The zero Span is kept nowhere.
type Span struct{ r Recorder }

// Work begins the span of what a node does by itself, and returns the context that lies
// in it. Without a tracer there is none.
func Work(ctx context.Context, t Tracer, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	r := t.Work(name)
	if r == nil {
		return ctx, Span{}
	}
	return With(ctx, r), Span{r}
}

// Of returns the span that a context lies in.
func Of(ctx context.Context) Span {
	r, _ := ctx.Value(key{}).(Recorder)
	return Span{r}
}

// Start begins a span below the one that a context lies in, and returns the context
// that lies in the new one. Without one above it there is none.
func Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	above := Of(ctx)
	if above.r == nil {
		return ctx, above
	}
	r := above.r.Child(name, kind, time.Now())
	return With(ctx, r), Span{r}
}

// Kept tells whether the span is kept anywhere.
func (s Span) Kept() bool { return s.r != nil }

// Past keeps a part that is over, with a figure; "" = none.
func (s Span) Past(name string, from, to time.Time, figure string, n int64) {
	if s.r == nil || from.IsZero() || to.IsZero() {
		return
	}
	r := s.r.Child(name, Internal, from)
	if figure != "" {
		r.Int(figure, n)
	}
	r.End(to)
}

// Text adds a word.
func (s Span) Text(name, value string) {
	if s.r != nil {
		s.r.Text(name, value)
	}
}

// Int adds a figure.
func (s Span) Int(name string, n int64) {
	if s.r != nil {
		s.r.Int(name, n)
	}
}

// Fail tells that it failed, with a code; "" = one that has no name.
func (s Span) Fail(code string) {
	if code == "" {
		code = "_OTHER" // as OpenTelemetry's conventions call it
	}
	if s.r != nil {
		s.r.Fail(code)
	}
}

// End ends it now.
func (s Span) End() {
	if s.r != nil {
		s.r.End(time.Now())
	}
}

// Wire returns its place in its trace; false where it is kept nowhere.
func (s Span) Wire() (Wire, bool) {
	if s.r == nil {
		return Wire{}, false
	}
	return s.r.Wire(), true
}
