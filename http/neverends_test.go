package http_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestASourceThatNeverEnds: of an answer without an end what is read is bounded, the
// connector says what was wrong, and the store is as it was.
func TestASourceThatNeverEnds(t *testing.T) {
	r, _ := puller(t)
	f := newFeed(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "[")
		for again := strings.Repeat(`{"v":1,"of":"a record without an id, `+strings.Repeat("x", 500)+`"},`, 128); ; {
			if _, err := io.WriteString(w, again); err != nil {
				return
			}
		}
	})
	r.connector(`{"name":"f","kind":"poll","url":"` + f.URL + `/"}`)
	e := r.post("/api/connectors/f/pull", "").fails(http.StatusBadRequest, "SchemaInvalid")
	if e["field"] != "url" || !strings.Contains(e["message"].(string), "answered more than") {
		t.Errorf("told as %v", e)
	}
	if state := r.get("/api/connectors/f").object()["state"].(map[string]any); state["problem"] != e["message"] {
		t.Errorf("the connector shows %v", state)
	}
	if got := r.get("/api/facts?predicate=v&status=all").list(); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
}
