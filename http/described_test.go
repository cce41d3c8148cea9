package http_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/http/openapi"
	"abagraph/internal/signup"
)

// everything gives a server all the routes that a configuration may leave out. Whoever
// adds such a route adds to it what brings it in.
func everything(c *httpd.Config) {
	c.MCP = http.NotFoundHandler()
	c.Signups, _ = signup.Open("", time.Now)
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

// TestDescribedParametersAreKnown sends each parameter that is described to its route,
// which may find fault with its value, and not with its being there.
func TestDescribedParametersAreKnown(t *testing.T) {
	r := start(t, "", everything)
	r.post("/api/branches", `{"name":"b1"}`).status(http.StatusCreated)
	j := described(t)
	for _, o := range j.document.Operations {
		if o.Path == "/api/stream" {
			continue // it does not end
		}
		said := j.dig("paths", o.Path, strings.ToLower(o.Method))
		list, _ := j.digIn(said, "parameters").([]any)
		for _, p := range list {
			p = j.follow(p)
			name, _ := j.digIn(p, "name").(string)
			if j.digIn(p, "in") != "query" {
				continue
			}
			value := "1"
			if name == "branch" {
				value = "b1"
			}
			target := aPlace.ReplaceAllString(o.Path, "x") + "?" + name + "=" + value
			got := r.do(o.Method, target, o.ExampleBody())
			if got.Status != http.StatusBadRequest {
				continue
			}
			e, _ := got.object()["error"].(map[string]any)
			message, _ := e["message"].(string)
			for _, unknown := range []string{"is not a known parameter", "is not known here", "cannot be named here"} {
				if e["field"] == name && strings.Contains(message, unknown) {
					t.Errorf("http/openapi/spec/%s describes %s of %s, which says: %s", o.File(), name, o.Key(), message)
				}
			}
		}
	}
}

var aPlace = regexp.MustCompile(`\{[a-z_]+\}`)
