package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	httpd "abagraph/http"
)

// An answer holds a bounded number of bytes, whatever it was asked for, and says
// where it ends early.
func TestAnswersAreBounded(t *testing.T) {
	r := start(t, "", quick, func(c *httpd.Config) { c.MaxBodyBytes = 64 << 20 })
	text := strings.Repeat("0123456789abcde ", 1<<16-48)
	const facts = 36
	var asserts []string
	for i := range facts {
		asserts = append(asserts, fmt.Sprintf(`{"subject":"Book:1","predicate":"page","object":"%d %s","valid_from":%d}`, i, text, i+1))
	}
	id := r.assert("Book:1", "page", `"first"`, `"valid_from":0`).text("id")
	made := r.post("/api/transact", `{"asserts":[`+strings.Join(asserts, ",")+`]}`).status(http.StatusOK)
	if len(made.Body) > 65<<20 || strings.Contains(made.Body, `"warnings"`) {
		t.Errorf("transact answered %d bytes", len(made.Body))
	}

	list := r.get("/api/facts?status=all&limit=1000").status(http.StatusOK)
	if n := len(list.list()); n < 31 || n > 33 || len(list.Body) > 32<<20 || !strings.Contains(list.Header.Get("X-Abagraph-Warning"), "32 MiB") {
		t.Errorf("%d facts, %v", n, list.Header)
	}
	if entity := r.get("/api/entities/Book:1?as_of=100").status(http.StatusOK).object(); entity["warnings"] != nil {
		t.Errorf("one fact holds then: %v", entity["warnings"])
	}
	history := r.get("/api/facts/" + id + "/history").status(http.StatusOK)
	if len(history.Body) > 10<<20 || !strings.Contains(history.object().text("warnings"), "timeline holds the first ") {
		t.Errorf("history answered %d bytes", len(history.Body))
	}
	short := r.get("/api/facts/" + id + "/history?limit=2").status(http.StatusOK).object()
	if n := len(short["timeline"].([]any)); n != 2 || !strings.Contains(short.text("warnings"), "timeline holds the first 2 only") {
		t.Errorf("%d rows of timeline, %v", n, short["warnings"])
	}
	r.get("/api/facts/"+id+"/history?limit=10001").fails(http.StatusBadRequest, "SchemaInvalid")

	// The tx comes in parts; only its last event carries its id.
	l := r.listen("/api/stream?tx_gt=1")
	for told := 0; told < facts; {
		m, ok := l.next()
		switch {
		case !ok:
			t.Fatalf("the stream ended after %d events", told)
		case m.data == "" && strings.HasSuffix(m.id, ":1"): // a keep-alive
		case m.data == "" || (m.id != "") != (told == facts-1):
			t.Fatalf("after %d events came one with id %q", told, m.id)
		default:
			told++
		}
	}
}
