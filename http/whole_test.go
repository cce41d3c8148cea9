package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// JSON has one kind of number: programs that know doubles only write 1.0 for 1.
func TestWholeNumbersOfDoubles(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "likes", `"tea"`)
	r.assert("Person:b", "likes", `"tea"`)
	for request, want := range map[string]string{
		`/api/search {"question":"tea","top_k":1.0}`:                                         "answer_facts",
		`/api/search {"question":"tea","limit":1e0}`:                                         "answer_facts",
		`/api/context {"goal":"tea","max_facts":1.0,"max_pages":0.0}`:                        "facts",
		`/api/context {"goal":"tea","max_facts":1,"token_budget":5e2,"as_of":4e12,"tx":2.0}`: "facts",
	} {
		path, body, _ := strings.Cut(request, " ")
		got := r.post(path, body).status(http.StatusOK).object()
		if list, _ := got[want].([]any); len(list) != 1 {
			t.Errorf("%s: %v", request, got)
		}
	}
	for _, body := range []string{`{"question":"tea","top_k":1.5}`, `{"question":"tea","top_k":1e99}`, `{"question":"tea","top_k":-1.0}`} {
		r.post("/api/search", body).status(http.StatusBadRequest)
	}
}
