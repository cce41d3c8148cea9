package memory

import (
	"context"

	"abagraph/fact"
)

// Handoff is what a surface that has let a request in hands to another one that
// answers it: MCP is served inside HTTP, by code that knows nothing of it.
type Handoff struct {
	Caller Caller
	// MinTx is the tx that every read must have seen (C-26).
	MinTx uint64
	// Idem makes the request's write safe to retry (C-31); nil = it is not.
	Idem *fact.Idempotency
	// Tell is called with the place of each answer, before it is sent; nil =
	// nobody asks.
	Tell func(Meta)
}

type handoffKey struct{}

// WithHandoff returns a context that carries a handoff.
func WithHandoff(ctx context.Context, h *Handoff) context.Context {
	return context.WithValue(ctx, handoffKey{}, h)
}

// HandoffOf returns the handoff that a context carries, or nil: then nobody has
// been let in.
func HandoffOf(ctx context.Context) *Handoff {
	h, _ := ctx.Value(handoffKey{}).(*Handoff)
	return h
}
