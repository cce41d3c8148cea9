package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"abagraph/fact"
)

// Error is an answer outside 2xx.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is the server's stable word for the failure (C-43). Where the answer
	// did not come from abagraph it is the status in words: BadGateway.
	Code fact.Code
	// Message is for people.
	Message string
	// Field is the parameter or body field at fault, or "".
	Field string
	// IDs are the facts that a Conflict met (C-14).
	IDs []string
	// Failures are the guards that did not hold (C-34), as JSON.
	Failures json.RawMessage
	// RetryAfter is how long the server asks to wait, or 0.
	RetryAfter time.Duration
	// Body is the answer as it came, cut to 64 KiB.
	Body []byte
}

// Error returns "code: message", which is what the command line prints.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// CodeOf returns the code of the *Error in err's chain, or "".
func CodeOf(err error) fact.Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// StatusOf returns the HTTP status of the *Error in err's chain, or 0.
func StatusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

const maxErrorBody = 64 << 10

type envelope struct {
	Error struct {
		Code     fact.Code       `json:"code"`
		Message  string          `json:"message"`
		Field    string          `json:"field"`
		IDs      []string        `json:"ids"`
		Failures json.RawMessage `json:"failures"`
	} `json:"error"`
}

func newError(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status, RetryAfter: retryAfter(header), Body: body[:min(len(body), maxErrorBody)]}
	var env envelope
	if json.Unmarshal(body, &env) == nil && env.Error.Code != "" {
		e.Code, e.Message = env.Error.Code, env.Error.Message
		e.Field, e.IDs, e.Failures = env.Error.Field, env.Error.IDs, env.Error.Failures
		return e
	}
	e.Code = fact.Code(strings.ReplaceAll(http.StatusText(status), " ", ""))
	if e.Code == "" {
		e.Code = "UnknownStatus"
	}
	e.Message = "the answer is not one of abagraph's: " + excerpt(body)
	return e
}

func excerpt(body []byte) string {
	const most = 200
	text := strings.TrimSpace(string(bytes.ToValidUTF8(body[:min(len(body), most)], nil)))
	if text == "" {
		return "it is empty"
	}
	return text
}

// passing reports whether an error may pass, so that the same call can succeed
// when sent again: too many calls, no leader, a shutdown, an unknown outcome.
func (e *Error) passing() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusBadGateway:
		return true
	}
	return false
}
