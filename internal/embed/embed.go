package embed

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
)

// The providers that make vectors. words and off make none.
const (
	Words  = "words"
	Off    = "off"
	Hash   = "hash"
	OpenAI = "openai"
	HTTP   = "http"
)

// Defaults of the endpoint (F-227) and of the hash (F-226).
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultModel   = "text-embedding-3-small"
	DefaultDim     = 1536
	DefaultHashDim = 64
)

// Options say which provider to use.
type Options struct {
	Provider string
	Key      string
	BaseURL  string // "" = DefaultBaseURL
	Model    string // "" = DefaultModel
	Dim      int    // 0 = the provider's default
	// Told is called when the provider begins to fail, with the reason, and with nil
	// when it works again; nil = nobody asks.
	Told func(err error)
	// Guard judges where the endpoint leads; nil = one that opens nothing.
	Guard *outbound.Guard
	// Now, Sleep and Jitter are the clock, the pause between two attempts and a
	// random number from 0 to 1; nil = the real ones.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64
}

// Provider makes the vectors of one model.
type Provider interface {
	Model() fact.Model
	// Embed returns a unit vector for each text, in order, nil for those that got
	// none; the error then says why. It keeps to the context's time.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrNoKey is returned for an endpoint without a key: embeddings stay off.
var ErrNoKey = errors.New("no_api_key")

// New makes a provider; nil for words and off, which make no vectors.
func New(o Options) (Provider, error) {
	switch o.Provider {
	case "", Words, Off:
		return nil, nil
	case Hash:
		return newHash(o.Dim)
	case OpenAI, HTTP:
		return newEndpoint(o)
	}
	return nil, fmt.Errorf("there is no embedding provider %q: it is one of words, off, hash, openai and http", o.Provider)
}

// checkBase reads the address of an endpoint. A user or a query in it would be a
// secret in an address.
func checkBase(base string) (string, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("the base URL of the embedding provider must be http://HOST/… or https://HOST/…")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("the base URL of the embedding provider may hold no user, query or fragment: the key has a setting of its own")
	}
	return strings.TrimRight(base, "/"), nil
}
