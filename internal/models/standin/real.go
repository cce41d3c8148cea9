package standin

import (
	"os"
	"strings"
	"testing"
)

// The variables that name a real endpoint for the tests of models: the one says
// "PROVIDER MODEL ENDPOINT" (the endpoint may be left out), the other is its key.
const (
	RealModel = "ABAGRAPH_TEST_MODEL"
	RealKey   = "ABAGRAPH_TEST_MODEL_KEY"
)

// Endpoint is a model that tests may ask.
type Endpoint struct {
	Name string
	// Fields of a model as a body brings it along; Endpoint "" is the provider's own.
	Provider, Model, Key, Endpoint string
	Real                           bool
}

// Endpoints are a stand-in in both wire formats, and the real endpoint where one is
// named; where none is, the output says so.
func Endpoints(t *testing.T, s *Server, key string) []Endpoint {
	t.Helper()
	list := []Endpoint{
		{Name: "a stand-in for anthropic", Provider: "anthropic", Model: "stand-in", Key: key, Endpoint: s.URL},
		{Name: "a stand-in for openai", Provider: "openai", Model: "stand-in", Key: key, Endpoint: s.URL + "/v1"},
	}
	words := strings.Fields(os.Getenv(RealModel))
	if len(words) == 0 {
		t.Logf("no real model is asked: %s and %s name none", RealModel, RealKey)
		return list
	}
	real := Endpoint{Name: "a real model", Provider: words[0], Key: os.Getenv(RealKey), Real: true}
	if len(words) < 2 || len(words) > 3 || real.Key == "" {
		t.Fatalf("%s must be PROVIDER MODEL [ENDPOINT], and %s its key", RealModel, RealKey)
	}
	if real.Model = words[1]; len(words) == 3 {
		real.Endpoint = words[2]
	}
	return append(list, real)
}
