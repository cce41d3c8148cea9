package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"abagraph/fact"
	"abagraph/memory"
)

const mcpPath = "/mcp"

// Bounds of what is served for MCP.
const (
	maxMCPBody  = 8 << 20
	maxMCPCalls = 64
)

// serveMCP is POST /mcp: it lets a message in as any other request, and hands it to
// the server that was configured for it.
func (s *Server) serveMCP(c *call) error {
	if c.trace != nil {
		return fact.Invalid("explain", "is not a known parameter here")
	}
	if len(c.query.list) > 0 {
		return fact.Invalid(shown(c.query.list[0].name), "is not a known parameter here: the namespace argument names the tenant")
	}
	if err := c.readBodyWithin(min(maxMCPBody, s.config.MaxBodyBytes)); err != nil {
		return err
	}
	if err := s.enterMCP(c.r.Context()); err != nil { // with the message, so that a slow one takes no place
		return err
	}
	defer func() { <-s.mcpCalls }()
	idem, err := c.idempotency()
	if err != nil {
		return err
	}
	minTx, err := c.minTx()
	if err != nil {
		return err
	}
	var told atomic.Pointer[memory.Meta]
	request := c.r.WithContext(memory.WithHandoff(c.r.Context(), &memory.Handoff{
		Caller: c.caller, MinTx: minTx, Idem: idem, Tell: func(m memory.Meta) { told.Store(&m) },
	}))
	request.Header = c.r.Header.Clone()
	request.Header.Del("Content-Encoding")
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	s.config.MCP.ServeHTTP(&mcpWriter{call: c, told: &told}, request)
	return nil
}

// enterMCP waits for one of the places of messages that are answered at a time.
func (s *Server) enterMCP(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, memory.DefaultTimeout)
	defer cancel()
	select {
	case s.mcpCalls <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fact.Errorf(fact.RateLimited, "%d messages are being answered already", maxMCPCalls)
	}
	return ctx.Err()
}

// mcpWriter notes the status of an answer, and gives it the headers that every
// answer has.
type mcpWriter struct {
	call *call
	told *atomic.Pointer[memory.Meta]
}

func (w *mcpWriter) Header() http.Header { return w.call.w.Header() }

func (w *mcpWriter) WriteHeader(status int) {
	if w.call.status != 0 {
		return
	}
	if m := w.told.Load(); m != nil {
		w.call.meta(m)
	} else {
		w.call.stand()
	}
	h := w.Header()
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	w.call.status = status
	w.call.w.WriteHeader(status)
}

func (w *mcpWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.call.w.Write(b)
}

// Flush sends what has been written, so that progress is told while it is made.
func (w *mcpWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	if f, ok := w.call.w.(http.Flusher); ok {
		f.Flush()
	}
}
