package connect

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"

	"abagraph/internal/outbound"
	"abagraph/internal/span"
	"abagraph/memory"
)

// Options are what a Service needs.
type Options struct {
	Memory *memory.Service
	// Guard is the way out; nil = nothing is fetched.
	Guard *outbound.Guard
	// Secret reads the value of a tenant's secret; nil = there are none.
	Secret func(ctx context.Context, tenant, name string) (string, error)
	// Logger is told of deliveries and pulls; nil = nobody is.
	Logger *slog.Logger
	// Tracer keeps what is done in parts; nil = nobody does.
	Tracer span.Tracer
}

// Service keeps connectors and takes what they deliver. It is safe for concurrent
// use.
type Service struct {
	memory *memory.Service
	guard  *outbound.Guard
	secret func(ctx context.Context, tenant, name string) (string, error)
	logger *slog.Logger
	tracer span.Tracer
	pulls  pulls
	// self names this run of the node in the states of what it pulls.
	self string
}

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Memory == nil {
		return nil, errors.New("connect: a door to the memory is required")
	}
	s := &Service{memory: o.Memory, guard: o.Guard, secret: o.Secret, logger: o.Logger, tracer: o.Tracer}
	if s.logger == nil {
		s.logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s.pulls.running = make(map[pullKey]chan struct{})
	s.self = rand.Text()
	return s, nil
}
