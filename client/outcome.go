package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"abagraph/fact"
)

// An error other than a Timeout tells that a write was not done (C-32). That is true
// of the request that was answered so, and not of an earlier one of the same key whose
// answer was lost: by this client's own repetition, or by net/http, which sends a
// request with an Idempotency-Key again by itself where a connection breaks.

// sendings counts how often a request went out.
type sendings struct{ n atomic.Int32 }

func (s *sendings) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { s.n.Add(1) }})
}

// mayBeDone reports whether a write that was sent so often, and ended so, may have been
// done by one of the requests that got no answer of their own.
func mayBeDone(err error, sent int32) bool {
	if sent > 1 {
		return true
	}
	switch StatusOf(err) {
	case 0:
		return sent > 0
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// ofAll is the error of a write all of whose requests are counted: a refusal for the
// moment, which tells that nothing was done, hides what an earlier request may have done.
func ofAll(err error, earlier bool) error {
	var e *Error
	if !earlier || !errors.As(err, &e) || e.Status != http.StatusTooManyRequests && e.Status != http.StatusServiceUnavailable {
		return err
	}
	open := *e
	open.Status, open.Code, open.Field = http.StatusGatewayTimeout, fact.Timeout, ""
	open.Message = "the outcome of the write is not known: a request of it got no answer, and the last one got " + e.Error() + "; retry with the same Idempotency-Key"
	return &open
}
