package http

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"

	"github.com/labstack/echo/v4"
)

// statusOf gives the status of a code (C-43).
func statusOf(code fact.Code) int {
	switch code {
	case fact.NotFound:
		return http.StatusNotFound
	case fact.Conflict, fact.CompareFailed:
		return http.StatusConflict
	case fact.SchemaInvalid:
		return http.StatusBadRequest
	case fact.Closed, fact.NoLeader, fact.ReadOnly:
		return http.StatusServiceUnavailable
	case fact.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fact.Unauthorized:
		return http.StatusUnauthorized
	case fact.Forbidden:
		return http.StatusForbidden
	case fact.EpochChanged:
		return http.StatusGone
	case fact.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fact.RateLimited:
		return http.StatusTooManyRequests
	case fact.Timeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// fail answers an error. One that is no fact.Error is ours: it is told to the
// operator and not to the caller.
func (c *call) fail(err error) {
	if c.status != 0 {
		return // the answer is on its way; a stream ends by being closed
	}
	var e *fact.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.DeadlineExceeded):
		e = &fact.Error{Code: fact.Timeout, Message: "the request took too long"}
	case errors.Is(err, context.Canceled):
		e = &fact.Error{Code: fact.Closed, Message: "the request was given up"}
	default:
		e = &fact.Error{Code: fact.Io, Message: "internal error"}
	}
	status := statusOf(e.Code)
	if status >= http.StatusInternalServerError {
		c.span.Fail(string(e.Code))
	} else {
		c.span.Text("abagraph.code", string(e.Code))
	}
	if status == http.StatusInternalServerError {
		c.server.config.Logger.Error("abagraph.server.error", "path", c.route.template, "code", string(e.Code), "error", err.Error())
	}
	switch e.Code {
	case fact.NoLeader, fact.RateLimited, fact.Closed, fact.ReadOnly:
		c.w.Header()["Retry-After"] = []string{retryAfter(e)}
	}
	if c.known && e != denied() && c.w.Header()[headerTx] == nil {
		c.stand()
	}
	c.write(status, appendError(c.buf[:0], e))
}

// retryAfter is a number of whole seconds, at least one.
func retryAfter(e *fact.Error) string {
	return strconv.FormatInt(max(1, int64(math.Ceil(e.RetryAfter.Seconds()))), 10)
}

// appendError appends the one envelope of all errors.
func appendError(b []byte, e *fact.Error) []byte {
	b = append(b, `{"error":{"code":`...)
	b = jsonx.AppendString(b, string(e.Code))
	b = append(b, `,"message":`...)
	b = jsonx.AppendString(b, e.Message)
	if e.Field != "" {
		b = append(b, `,"field":`...)
		b = jsonx.AppendString(b, e.Field)
	}
	if len(e.IDs) > 0 {
		b = append(b, `,"ids":`...)
		b = jsonx.AppendIDs(b, e.IDs)
	}
	if len(e.Failures) > 0 {
		b = append(b, `,"failures":[`...)
		for i := range e.Failures {
			b = appendFailure(b, i, &e.Failures[i])
		}
		b = append(b, ']')
	}
	return append(b, '}', '}')
}

func appendFailure(b []byte, i int, f *fact.GuardFailure) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = append(b, `{"subject":`...)
	b = jsonx.AppendString(b, f.Subject)
	b = append(b, `,"predicate":`...)
	b = jsonx.AppendString(b, f.Predicate)
	b = append(b, `,"expected":`...)
	b = jsonx.AppendObject(b, f.Expected)
	if f.Absent {
		b = append(b, `,"absent":true`...)
	}
	b = append(b, `,"current":`...)
	b = jsonx.AppendObjects(b, f.Current)
	b = append(b, `,"active":`...)
	b = jsonx.AppendObjects(b, f.Current)
	return append(b, '}')
}

// wrongMethod answers a known path with a method that it does not have. Echo
// has found out which ones it has.
func wrongMethod(c *call) error {
	if allow, ok := c.echo.Get(echo.ContextKeyHeaderAllow).(string); ok && allow != "" {
		c.w.Header().Set("Allow", allow)
	}
	return &fact.Error{Code: fact.MethodNotAllowed, Message: "this path does not take the method " + headerText(c.r.Method)}
}

// denied answers a request that has no business here, exactly as a route that
// does not exist (C-42).
var denied = memory.Denied
