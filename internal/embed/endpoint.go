package embed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
)

// Bounds of one call.
const (
	maxTexts      = 256       // texts in one call
	maxTextsBytes = 512 << 10 // bytes of them
	maxInFlight   = 8         // calls at the same time
	attempts      = 3
	firstWait     = 100 * time.Millisecond
	maxWait       = 2 * time.Second
	callLimit     = time.Minute // whatever the caller's patience
)

// endpoint asks a server that speaks the OpenAI embeddings protocol.
type endpoint struct {
	model  fact.Model
	name   string // the model's, as the server knows it
	url    string
	key    string
	shrink bool // the model can be asked for a dimension
	client *http.Client
	places chan struct{}
	rest   pause
	sleep  func(context.Context, time.Duration) error
	jitter func() float64
}

func newEndpoint(o Options) (Provider, error) {
	if o.Key == "" {
		return nil, ErrNoKey
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key of the embedding provider may hold only printable ASCII characters, and no space")
	}
	e := &endpoint{
		name: or(o.Model, DefaultModel), key: o.Key, places: make(chan struct{}, maxInFlight),
		sleep: o.Sleep, jitter: o.Jitter, shrink: o.Dim > 0 && strings.HasPrefix(or(o.Model, DefaultModel), "text-embedding-3"),
	}
	e.model = fact.Model{Name: e.name, Dim: o.Dim}
	if o.Dim == 0 {
		e.model.Dim = DefaultDim
	}
	if !e.model.Valid() {
		return nil, fmt.Errorf("the embedding model must have a name of at most %d bytes and a dimension from 1 to %d", fact.MaxModelBytes, fact.MaxVectorDim)
	}
	base, err := checkBase(or(o.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	e.url = base + "/embeddings"
	guard := o.Guard
	if guard == nil {
		if guard, err = outbound.New(outbound.Options{}); err != nil {
			return nil, err
		}
	}
	if err := guard.Check(e.url); err != nil {
		return nil, fmt.Errorf("the base URL of the embedding provider %w", err)
	}
	// No redirects, which could carry the texts off.
	e.client = guard.Client(outbound.Limits{Bytes: answerBytes(maxTexts, e.model.Dim), Time: callLimit, Hops: -1})
	if e.sleep == nil {
		e.sleep = sleep
	}
	if e.jitter == nil {
		e.jitter = rand.Float64
	}
	e.rest.now, e.rest.told = o.Now, o.Told
	if e.rest.now == nil {
		e.rest.now = time.Now
	}
	return e, nil
}

// answerBytes bounds an answer to so many texts.
func answerBytes(texts, dim int) int64 { return int64(64<<10 + texts*dim*32) }

func or(value, preset string) string {
	if value == "" {
		return preset
	}
	return value
}

// Model names the model that the endpoint is asked for.
func (e *endpoint) Model() fact.Model { return e.model }

// Embed asks for the vectors in as few calls as their bounds allow, one after
// the other. It stops at the first one that fails.
func (e *endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	if len(texts) == 0 {
		return list, nil
	}
	if err := e.rest.check(); err != nil {
		return list, err
	}
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	case <-ctx.Done():
		return list, failure("is asked too much at the same time")
	}
	var bad error
	for from := 0; from < len(texts); {
		to := batchEnd(texts, from)
		rejected, err := e.attempt(ctx, texts[from:to], list[from:to])
		if err != nil {
			if !errors.Is(ctx.Err(), context.Canceled) { // who gives up says nothing of the provider
				e.rest.failed(err, e.jitter())
			}
			return list, err
		}
		if rejected != nil && bad == nil {
			bad = rejected
		}
		from = to
	}
	e.rest.worked()
	return list, bad
}

func batchEnd(texts []string, from int) int {
	to, size := from, 0
	for to < len(texts) && to-from < maxTexts && (to == from || size+len(texts[to]) <= maxTextsBytes) {
		size += len(texts[to])
		to++
	}
	return to
}

// attempt asks once, and again where another attempt may help: this is the one
// place that does.
func (e *endpoint) attempt(ctx context.Context, texts []string, into [][]float32) (rejected, err error) {
	wait := firstWait
	for n := 1; ; n++ {
		var again bool
		var after time.Duration
		rejected, again, after, err = e.ask(ctx, texts, into)
		if err == nil || !again || n == attempts {
			return rejected, err
		}
		pause := max(after, time.Duration(e.jitter()*float64(wait)))
		if pause > maxWait || e.sleep(ctx, pause) != nil {
			return rejected, err
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

// Failure is what may be told of a provider that gave no vectors. It never holds
// what the provider said, which may echo the key.
type Failure struct {
	what string
	text bool
}

func failure(format string, args ...any) *Failure {
	return &Failure{what: fmt.Sprintf(format, args...)}
}

// OfText reports whether some texts got no vector although others of the same
// call did: asking again is of no use.
func (f *Failure) OfText() bool { return f.text }

// Error says what the provider did.
func (f *Failure) Error() string { return "the embedding provider " + f.what }
