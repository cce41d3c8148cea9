package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// Call is one request, for what the methods of Client do not cover and for
// callers that want the answer's JSON untouched.
type Call struct {
	Method string
	// Path begins with / and is escaped by the caller: /api/facts.
	Path  string
	Query url.Values
	// Body is JSON, or nil.
	Body []byte
	// IdempotencyKey makes a write safe to repeat (C-31). Do makes one where
	// it is empty and the method is not a read.
	IdempotencyKey string
	// Once sends the call one time only.
	Once bool
}

// Answer is a 2xx answer.
type Answer struct {
	Meta
	Body []byte
}

// Do sends a call and returns its 2xx answer, else an *Error or a wrapped error
// of the transport. It repeats the call while the error may pass, as often as
// the Client was told and not beyond ctx. Of a write, a refusal for the moment that
// comes after a request without an answer is told as a Timeout: its outcome is not known.
func (c *Client) Do(ctx context.Context, call Call) (*Answer, error) {
	if call.IdempotencyKey == "" && !isRead(call.Method) {
		call.IdempotencyKey = NewIdempotencyKey()
	}
	wait, maybe := c.wait, false
	for attempt := 1; ; attempt++ {
		var sent sendings
		answer, err := c.attempt(ctx, call, &sent)
		if err == nil {
			return answer, nil
		}
		if !isRead(call.Method) {
			n := sent.n.Load()
			maybe, err = maybe || mayBeDone(err, n), ofAll(err, maybe || n > 1)
		}
		if call.Once || attempt >= c.attempts || !mayPass(err) || ctx.Err() != nil {
			return nil, err
		}
		if pause(ctx, max(jitter(wait), askedWait(err))) != nil {
			return nil, err
		}
		wait = min(2*wait, maxWait)
	}
}

// NewIdempotencyKey makes a random key for one write (C-31).
func NewIdempotencyKey() string { return rand.Text() }

func isRead(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// errTooLong tells that an answer broke the client's bound; repeating is no cure.
var errTooLong = errors.New("the answer is longer than the client allows")

func mayPass(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.passing()
	}
	return !errors.Is(err, errTooLong) && !errors.Is(err, errFrameTooLong)
}

func askedWait(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

func (c *Client) attempt(ctx context.Context, call Call, sent *sendings) (*Answer, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	request, err := c.request(sent.watch(ctx), call)
	if err != nil {
		return nil, err
	}
	return c.send(request, call)
}

func (c *Client) send(request *http.Request, call Call) (*Answer, error) {
	response, err := c.transport.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	defer response.Body.Close()
	body, err := readBounded(response.Body, c.maxAnswer)
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s %s: %w", call.Method, call.Path, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, newError(response.StatusCode, response.Header, body)
	}
	return &Answer{Meta: newMeta(response.StatusCode, response.Header), Body: body}, nil
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	target := c.base + call.Path
	query := call.Query
	if c.tenant != "" && !query.Has("tenant") {
		query = cloneQuery(query)
		query.Set("tenant", c.tenant)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, target, bytes.NewReader(call.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if call.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.agent)
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	if call.IdempotencyKey != "" {
		request.Header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	return request, nil
}

func cloneQuery(query url.Values) url.Values {
	clone := make(url.Values, len(query)+1)
	for name, values := range query {
		clone[name] = values
	}
	return clone
}

func readBounded(r io.Reader, most int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%w: over %d bytes", errTooLong, most)
	}
	return body, nil
}

// into sends a call and decodes its answer, in one pass: the standard library checks a
// text first and then reads it, again for every fact in it; *Pending is the error of one that waits
// for somebody else.
func (c *Client) into(ctx context.Context, call Call, to any) (Meta, error) {
	answer, err := c.Do(ctx, call)
	if err != nil {
		return Meta{}, err
	}
	if pending := PendingIn(answer); pending != nil {
		return answer.Meta, pending
	}
	if err := jsonv2.Unmarshal(answer.Body, to); err != nil {
		return Meta{}, fmt.Errorf("read the answer to %s %s: %w", call.Method, call.Path, err)
	}
	return answer.Meta, nil
}

// jitter spreads pauses over half to all of d, so that clients that failed
// together do not come back together.
func jitter(d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d/2)))
	if err != nil {
		return d
	}
	return d/2 + time.Duration(n.Int64())
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
