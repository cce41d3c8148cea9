package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
)

// Kind says what went wrong with a call.
type Kind uint8

// The kinds of failures.
const (
	Refused   Kind = iota + 1 // the endpoint is refused, or refuses what it was sent
	Slow                      // no answer in time
	Down                      // no answer, or a server's error
	Busy                      // the endpoint limits its callers
	Malformed                 // an answer that is cut off, or not of the form that was asked for
)

// Failure is what may be told of a model that gave no answer. It holds neither the
// key nor a text of the endpoint's.
type Failure struct {
	Kind  Kind
	what  string
	after time.Duration
}

// Error says what the model did, as the rest of a sentence that begins with its
// name.
func (f *Failure) Error() string { return f.what }

func (f *Failure) again() bool { return f.Kind != Refused }

// AsError makes the error that a caller is told: what is at fault lies in path, the
// field that names the model. Errors that are none of a model's are returned as
// they are.
func AsError(path string, err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		return err
	}
	code := fact.Closed
	switch f.Kind {
	case Refused:
		code = fact.SchemaInvalid
	case Slow:
		code = fact.Timeout
	case Busy:
		code = fact.RateLimited
	}
	return &fact.Error{Code: code, Field: path, Message: path + ": the model " + f.what}
}

// unreached says why a call got no answer.
func unreached(ctx context.Context, err error) error {
	var known *outbound.Failure
	err = outbound.Explain(ctx, err)
	if !errors.As(err, &known) {
		return err
	}
	kind := Down
	switch known.Kind {
	case outbound.Refused:
		return &Failure{Kind: Refused, what: "was not asked: its endpoint " + known.Error()}
	case outbound.TimedOut:
		kind = Slow
	case outbound.TooLarge:
		kind = Malformed
	}
	return &Failure{Kind: kind, what: known.Error()}
}

// word is what an endpoint may call an error and have it told: a name, no sentence.
var word = regexp.MustCompile(`^[a-z][a-z_]{2,63}$`)

// refusal makes a failure of an answer that is not 200.
func refusal(r *http.Response, raw []byte, key byok.Key) *Failure {
	f := &Failure{Kind: Refused, what: fmt.Sprintf("answered %d", r.StatusCode)}
	if name := errorWord(raw); name != "" && key.Scrub(name) == name && !strings.Contains(key.Reveal(), name) {
		f.what += " (" + name + ")"
	}
	switch {
	case r.StatusCode >= 300 && r.StatusCode < 400:
		f.what += ": redirects are not followed"
	case r.StatusCode == http.StatusTooManyRequests:
		f.Kind = Busy
	case r.StatusCode >= 500 || r.StatusCode == http.StatusRequestTimeout || r.StatusCode < 300:
		f.Kind = Down
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.after = time.Duration(min(seconds, 3600)) * time.Second
	}
	return f
}

// errorWord finds the name that an endpoint gives its error.
func errorWord(raw []byte) string {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return ""
	}
	e, ok := v.Field("error")
	if !ok {
		return ""
	}
	for _, name := range [...]string{"code", "type"} {
		if w, ok := e.Field(name); ok && w.Kind == jsonx.String && word.MatchString(w.Text) {
			return w.Text
		}
	}
	return ""
}
