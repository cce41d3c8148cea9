package http_test

import (
	"net/http"
	"strconv"
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
	r.post("/api/reports", `{"name":"r"}`).status(http.StatusCreated)
	r.post("/api/reports/r/run", "").status(http.StatusOK)
	for _, path := range []string{"/api/triggers/t", "/api/connectors/feed", "/api/alerts/a", "/api/secrets/s", "/api/reports/r"} {
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

// C-31: whatever is set by a name answers a repeated request as it answered the first
// one, also where it would find the thing there by now, and writes nothing; another
// request under the key is a conflict.
func TestRepeatedSettingsAreAnsweredAgain(t *testing.T) {
	r, _ := triggered(t)
	r.connector(`{"name":"feed","url":"http://127.0.0.1:1/"}`)
	for i, c := range []struct{ method, path, body, other string }{
		{"POST", "/api/connectors", `{"name":"c"}`, `{"name":"c","label":"L"}`},
		{"POST", "/api/connectors", `{"name":"c"}`, `{"name":"c","label":"L"}`},
		{"POST", "/api/connectors", `{"name":"c","label":"other than it is"}`, `{"name":"c"}`},
		{"PUT", "/api/connectors/c", `{"name":"c","label":"M"}`, `{"name":"c","label":"N"}`},
		{"PUT", "/api/connectors/d", `{"name":"d"}`, `{"name":"d","label":"N"}`},
		{"POST", "/api/triggers", `{"name":"t","connector":"feed","schedule":"@daily"}`, `{"name":"t","connector":"feed","schedule":"@hourly"}`},
		{"POST", "/api/triggers", `{"name":"t","connector":"feed","schedule":"@weekly"}`, `{"name":"t","connector":"feed","schedule":"@hourly"}`},
		{"PUT", "/api/triggers/u", `{"name":"u","connector":"feed","schedule":"@daily"}`, `{"name":"u","connector":"feed","schedule":"@hourly"}`},
		{"POST", "/api/triggers/t/pause", ``, ``},
		{"POST", "/api/alerts", `{"name":"a","kind":"cost","threshold":1}`, `{"name":"a","kind":"cost","threshold":2}`},
		{"POST", "/api/alerts", `{"name":"a","kind":"cost","threshold":1}`, `{"name":"a","kind":"cost","threshold":2}`},
		{"POST", "/api/alerts", `{"name":"a","kind":"cost","threshold":3}`, `{"name":"a","kind":"cost","threshold":2}`},
		{"POST", "/api/reports", `{"name":"r"}`, `{"name":"r","title":"R"}`},
		{"POST", "/api/reports", `{"name":"r"}`, `{"name":"r","title":"R"}`},
		{"POST", "/api/reports/r/run", ``, ``},
		{"POST", "/api/secrets", `{"name":"s","reference":"env:A"}`, `{"name":"s","reference":"env:B"}`},
		{"POST", "/api/secrets", `{"name":"s","reference":"env:A"}`, `{"name":"s","reference":"env:B"}`},
		{"PUT", "/api/policy", `{"version":"v1","rules":[{"role":"admin","permissions":["*"]}]}`, `{"version":"v1","rules":[]}`},
		{"PUT", "/api/policy", `{"version":"v2","rules":[{"role":"write","permissions":["*"]}]}`, `{"version":"v3","rules":[]}`},
	} {
		key := "Idempotency-Key: k" + strconv.Itoa(i)
		first := r.do(c.method, c.path, c.body, key)
		if first.Status != http.StatusOK && first.Status != http.StatusCreated {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, first.Status, first.Body)
		}
		before := r.node.Position().Tx
		if again := r.do(c.method, c.path, c.body, key); again.Status != first.Status || again.Body != first.Body {
			t.Errorf("%s %s %s:\nfirst %d %s\nthen  %d %s", c.method, c.path, c.body, first.Status, first.Body, again.Status, again.Body)
		}
		if c.other != "" {
			r.do(c.method, c.path, c.other, key).fails(http.StatusConflict, "Conflict")
		}
		if r.node.Position().Tx != before {
			t.Errorf("%s %s: something was written", c.method, c.path)
		}
	}
}
