package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// A namespace that does not exist is told of by every read of this kind, and so is a
// subject that no fact mentions; where there is something, nothing is said.
func TestWhatIsNotThereIsTold(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "knows", `"Person:b"`)
	r.branch("bare", `"as_of":0`)
	const empty, unknown = "the namespace acne does not exist, or holds no facts yet", "no fact mentions Person:x at the time that is read"
	for request, want := range map[string][]any{
		"GET /api/factcheck?tenant=acne":                          {empty},
		"GET /api/factcheck?tenant=acne&subject=Person:x":         {unknown, empty},
		"GET /api/factcheck?subject=Person:x":                     {unknown},
		"GET /api/factcheck?after=Person:z":                       nil,
		"GET /api/factcheck?branch=bare":                          {"branch bare of the namespace default holds no facts yet"},
		"GET /api/changes?from=2020-01-01&tenant=acne":            {empty},
		"GET /api/changes?from=0&to=5&tenant=acne":                {empty},
		"GET /api/changes?from=2020-01-01&subject=Person:x":       {unknown},
		"GET /api/changes?from=2020-01-01&subject=Person:b":       nil,
		"GET /api/changes?from=2020-01-01&predicate=none":         nil,
		"POST /api/consolidate?tenant=acne":                       {empty},
		"POST /api/consolidate?tenant=acne&dry_run=1":             {empty},
		"POST /api/consolidate?subject=Person:x":                  {unknown},
		"POST /api/consolidate":                                   nil,
		"GET /api/walk?start=Person:x&tenant=acne":                {unknown, empty},
		"GET /api/path?from=Person:x&to=Person:x&tenant=acne":     {unknown, empty},
		"GET /api/graph?tenant=acne":                              {empty},
		"GET /api/search?question=a&tenant=acne":                  {empty},
		"GET /api/search?question=a&seeds=Person:x&tenant=acne":   {unknown, empty},
		"GET /api/walk?start=Person:a&direction=in":               nil,
		"GET /api/path?from=Person:b&to=Person:a&direction=out":   nil,
		"GET /api/changes?from=2020-01-01&axis=known&tenant=acne": {empty},
	} {
		method, path, _ := strings.Cut(request, " ")
		got, _ := r.do(method, path, "").status(http.StatusOK).object()["warnings"].([]any)
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", request, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", request, got, want)
			}
		}
	}
}
