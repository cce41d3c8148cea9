package chaos_test

import (
	"net/http"

	"abagraph/chaos"
)

// checks digests, saves pages, and asks what contradicts, what is said twice, and
// what has changed.
func (s *suite) checks() {
	s.post(http.StatusOK, "/api/digest", `{"source":"notes","facts":[{"subject":"Person:eva","predicate":"role","object":"clerk","valid_from":"2001-01-01"},
		{"subject":"Person:eva","predicate":"role","object":"clerk","valid_from":"2001-01-01","source":"register"},
		{"subject":"Person:eva","predicate":"role","object":"judge","policy":"coexist"},{"subject":"Person:eva","predicate":"mood","object":"fine","confidence":0.4}]}`)
	s.post(http.StatusOK, "/api/digest", `{"subject":"Note:1","content":"[[Person:eva|Eva]] met [[Person:ana]]."}`)
	s.post(http.StatusBadRequest, "/api/digest", `{"content":"nothing to link"}`)
	put := func(want int, body string) {
		s.t.Helper()
		s.send(want, chaos.Request{Method: http.MethodPut, Path: "/api/pages/Person:eva", Body: []byte(body)})
	}
	put(http.StatusCreated, `{"title":"Eva","body":"[[Person:ana]] and [[City:oslo|Oslo]]","citations":[{"url":"https://a.example","quote":"seen"}]}`)
	put(http.StatusOK, `{"body":"[[City:oslo|Oslo]] only"}`)
	put(http.StatusOK, `{"body":"[[City:oslo|Oslo]] only"}`)
	put(http.StatusBadRequest, `{"bode":"x"}`)
	for _, path := range []string{
		"/api/pages/Person:eva", "/api/factcheck?integrity=1&subject=Person:eva", "/api/factcheck?as_of=2001-06-01&predicate=role",
		"/api/changes?from=2000-01-01&to=2001-06-01&axis=valid&subject=Person:eva", "/api/changes?from=2000-01-01&to=2001-06-01&predicate=role",
	} {
		s.get(http.StatusOK, path)
	}
	s.post(http.StatusOK, "/api/consolidate?dry_run=1&subject=Person:eva", "")
	s.post(http.StatusOK, "/api/consolidate?subject=Person:eva", "{}")
	s.get(http.StatusNotFound, "/api/pages/Person:none")
	s.get(http.StatusBadRequest, "/api/changes?to=2001-01-01")
	s.get(http.StatusBadRequest, "/api/factcheck?kind=none")
}
