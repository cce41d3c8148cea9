package fact

import (
	"errors"
	"fmt"
	"time"
)

// Code is a stable word for a kind of failure (C-43). Clients switch on it.
type Code string

// The error codes and, in the comment, the HTTP status of each.
const (
	NotFound          Code = "NotFound"          // 404
	Conflict          Code = "Conflict"          // 409
	CompareFailed     Code = "CompareFailed"     // 409
	SchemaInvalid     Code = "SchemaInvalid"     // 400
	StorageCorruption Code = "StorageCorruption" // 500
	Io                Code = "Io"                // 500
	Closed            Code = "Closed"            // 503
	MethodNotAllowed  Code = "MethodNotAllowed"  // 405
	Unauthorized      Code = "Unauthorized"      // 401
	Forbidden         Code = "Forbidden"         // 403
	EpochChanged      Code = "EpochChanged"      // 410
	TooLarge          Code = "TooLarge"          // 413
	RateLimited       Code = "RateLimited"       // 429
	Timeout           Code = "Timeout"           // 504: the outcome is unknown (C-32)
	NoLeader          Code = "NoLeader"          // 503
	ReadOnly          Code = "ReadOnly"          // 503: a disk is nearly full
)

// Error is a failure that a caller is told about.
type Error struct {
	Code    Code
	Message string
	// Field names the parameter or body field that is at fault, where one is.
	Field string
	// IDs are the facts that a Conflict met (C-14).
	IDs []ID
	// Failures are the guards that did not hold (C-34).
	Failures []GuardFailure
	// RetryAfter is when to try again, where that is known.
	RetryAfter time.Duration
}

// GuardFailure tells what one guard expected and what holds instead (C-34).
type GuardFailure struct {
	Subject   string
	Predicate string
	// Expected is the object that the guard named; Absent is set instead
	// where the guard asked for no fact at all.
	Expected Object
	Absent   bool
	// Current are the distinct objects that hold, in the order of lists.
	Current []Object
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes a SchemaInvalid error about one field.
func Invalid(field, problem string) *Error {
	message := problem
	if field != "" {
		message = field + " " + problem
	}
	return &Error{Code: SchemaInvalid, Message: message, Field: field}
}

// CodeOf returns the code of the Error that err wraps, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
