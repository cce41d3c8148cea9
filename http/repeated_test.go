package http_test

import (
	"net/http"
	"testing"
)

// C-31: a deletion whose answer was lost is answered again under its key, though what
// it deleted is gone; another key, or none, finds nothing there.
func TestRepeatedDeletionsAreAnsweredAgain(t *testing.T) {
	r, _ := triggered(t)
	r.connector(`{"name":"feed","url":"http://127.0.0.1:1/"}`)
	r.post("/api/triggers", `{"name":"t","connector":"feed","schedule":"@daily"}`).status(http.StatusOK)
	r.post("/api/alerts", `{"name":"a","kind":"cost","threshold":1}`).status(http.StatusCreated)
	r.post("/api/secrets", `{"name":"s","reference":"env:SOME"}`).status(http.StatusCreated)
	for _, path := range []string{"/api/triggers/t", "/api/connectors/feed", "/api/alerts/a", "/api/secrets/s"} {
		r.delete(path+"x", "Idempotency-Key: none").fails(http.StatusNotFound, "NotFound")
		first := r.delete(path, "Idempotency-Key: once").status(http.StatusOK).Body
		if again := r.delete(path, "Idempotency-Key: once").status(http.StatusOK).Body; again != first {
			t.Errorf("%s: first %s, then %s", path, first, again)
		}
		before := r.node.Position().Tx
		r.delete(path, "Idempotency-Key: another").fails(http.StatusNotFound, "NotFound")
		r.delete(path).fails(http.StatusNotFound, "NotFound")
		if r.node.Position().Tx != before {
			t.Errorf("%s: something was written", path)
		}
	}
}
