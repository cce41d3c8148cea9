package models

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
)

// Bounds of a call.
const (
	DefaultTime = 60 * time.Second // of one attempt
	maxAnswer   = 1 << 20
	attempts    = 3
	firstWait   = 500 * time.Millisecond
	maxWait     = 20 * time.Second
	maxTokens   = 8192 // of an answer, where the wire format must name a bound
)

// Options are what a Client needs. Guard is required.
type Options struct {
	Guard *outbound.Guard
	// Time bounds one attempt; 0 = DefaultTime.
	Time time.Duration
	// PerTenant and Total bound the calls that run at a time; 0 = 4 and 64.
	PerTenant int
	Total     int
	// Sleep and Jitter are the pause between two attempts and a random number from
	// 0 to 1; nil = the real ones.
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64
}

// Client asks models. It is safe for concurrent use.
type Client struct {
	guard  *outbound.Guard
	client *http.Client
	gate   *gate
	sleep  func(context.Context, time.Duration) error
	jitter func() float64
}

// New makes a Client.
func New(o Options) *Client {
	if o.Time <= 0 {
		o.Time = DefaultTime
	}
	c := &Client{guard: o.Guard, gate: newGate(o.PerTenant, o.Total), sleep: o.Sleep, jitter: o.Jitter}
	if c.sleep == nil {
		c.sleep = sleep
	}
	if c.jitter == nil {
		c.jitter = rand.Float64
	}
	// No redirects, which could carry texts off.
	c.client = o.Guard.Client(outbound.Limits{Bytes: maxAnswer, Time: o.Time, Hops: -1})
	return c
}

// Question is what a model is asked.
type Question struct {
	System string // what to do
	Text   string // what to do it with
	Name   string // of the answer's form: letters and underscores
	Schema string // JSON Schema of the answer, an object all of whose properties are required
}

// Answer is what a model said.
type Answer struct {
	Value     jsonx.Value // bound to the schema by the endpoint; it is yet to be checked
	TokensIn  int
	TokensOut int
}

// Check judges a model by its form, before anything is sent. The error names the
// field that is at fault, below path.
func (c *Client) Check(path string, m *byok.Config) error {
	if m.Endpoint == "" {
		return nil
	}
	err := c.guard.Check(m.Endpoint)
	if err == nil && strings.ContainsAny(m.Endpoint, "?#") {
		err = errors.New("may hold no query and no fragment: the key has a field of its own")
	}
	if err != nil {
		return fact.Invalid(path+".endpoint", err.Error())
	}
	return nil
}

// Ask asks a model, again where that may help, and reads the answer with take: an
// answer that take refuses counts as a failed attempt. Its error is a *Failure, or
// the context's own where the caller gave up.
func (c *Client) Ask(ctx context.Context, tenant string, m *byok.Config, q *Question, take func(*Answer) error) error {
	leave, err := c.gate.enter(ctx, tenant)
	if err != nil {
		return err
	}
	defer leave()
	wait := firstWait
	for n := 1; ; n++ {
		answer, err := c.once(ctx, m, q)
		if err == nil {
			switch err = take(answer); {
			case err != nil:
				err = &Failure{Kind: Malformed, what: "did not answer what it was asked for: " + m.Key.Scrub(err.Error())}
			case m.Key.In(answer.Value): // what an answer says may be stored
				err = malformed("answered with the key that it was sent")
			default:
				return nil
			}
		}
		var f *Failure
		if !errors.As(err, &f) {
			return err
		}
		pause := max(f.after, time.Duration(c.jitter()*float64(wait)))
		if !f.again() || n == attempts || pause > maxWait || c.sleep(ctx, pause) != nil {
			return err
		}
		wait *= 4
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
