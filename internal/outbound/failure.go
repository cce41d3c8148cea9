package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Kind says why a call gave no answer.
type Kind uint8

// The kinds of failures.
const (
	Refused   Kind = iota + 1 // the guard let it not through
	Unreached                 // nothing answered
	TimedOut                  // the answer took too long
	TooLarge                  // the answer is longer than the caller takes
)

// Failure is what may be told of a call that gave no answer. Its words hold no
// URL, no address and nothing of the answer.
type Failure struct {
	Kind Kind
	what string
}

// Error says what is the matter with the address or the answer, as the rest of a
// sentence that begins with its name.
func (f *Failure) Error() string { return f.what }

func refused(what string) error { return &Failure{Refused, what} }

func private() error {
	return refused("leads to a private or local address, which is refused: an operator opens hosts with " + Setting)
}

func unusual() error {
	return refused("has a port below 1024 that is neither 80 nor 443, which is refused: an operator opens it with " + Setting)
}

func tooLarge(limit int64) error {
	return &Failure{TooLarge, fmt.Sprintf("answered more than %d bytes", limit)}
}

// Explain turns the error of a client or of reading its answer into what may be
// told: a *Failure, or the context's own error where the caller gave up.
func Explain(ctx context.Context, err error) error {
	var known *Failure
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return &Failure{TimedOut, "did not answer in time"}
	case errors.Is(err, http.ErrUseLastResponse):
		return refused("redirects, which is not followed here")
	}
	return &Failure{Unreached, "could not be reached"}
}
