package http_test

import (
	"net/http"
	"testing"

	httpd "abagraph/http"
	"abagraph/http/openapi"
)

// everything gives a server all the routes that a configuration may leave out. Whoever
// adds such a route adds to it what brings it in.
func everything(c *httpd.Config) {
	c.MCP = http.NotFoundHandler()
}

func TestEveryRouteIsDescribed(t *testing.T) {
	spec, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range spec.Problems(start(t, "", everything).inst.Described()) {
		t.Error(problem)
	}
}
