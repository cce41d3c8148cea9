package http_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	httpd "abagraph/http"
	"abagraph/memory"
)

// TestMCPIsLetInLikeEverythingElse: what answers /mcp is handed the caller and
// the whole body, decompressed; its answer carries the headers of every answer.
func TestMCPIsLetInLikeEverythingElse(t *testing.T) {
	r := start(t, "operator", func(c *httpd.Config) {
		c.MCP = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			hand := memory.HandoffOf(q.Context())
			body, err := io.ReadAll(q.Body)
			if err != nil || hand == nil || !hand.Caller.Operator || hand.MinTx != 0 || hand.Idem == nil || hand.Idem.Path != "/mcp" {
				t.Errorf("handed over: %+v, %q, %v", hand, body, err)
			}
			hand.Tell(memory.Meta{Tx: 7, Epoch: "epoch"})
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(append([]byte("got "), body...))
		})
	})
	r.unjudged = true // what answers is the test's
	got := r.post("/mcp", `{"a":1}`, "Idempotency-Key: k")
	if got.status(http.StatusTeapot); got.Body != `got {"a":1}` || got.Header.Get("X-Abagraph-Tx") != "7" || got.Header.Get("X-Abagraph-Epoch") != "epoch" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", got.Body, got.Header)
	}
	r.post("/mcp", strings.Repeat(" ", 3<<20), "Idempotency-Key: k").fails(http.StatusRequestEntityTooLarge, "TooLarge")
	r.post("/mcp", `{}`, "X-Abagraph-Min-Tx: soon").fails(http.StatusBadRequest, "SchemaInvalid")
	plain := start(t, "")
	plain.post("/mcp", `{}`).fails(http.StatusNotFound, "NotFound")
	if got := plain.get("/api/connect").object(); got["mcp_endpoint"] != nil {
		t.Errorf("a server without MCP: %v", got)
	}
}

// TestMCPCallsAreBounded: so many messages are answered at a time, and no more;
// others wait for a place, and other routes wait for nothing. A message whose body is
// slow takes no place.
func TestMCPCallsAreBounded(t *testing.T) {
	const places = 64
	inside, leave := make(chan struct{}), make(chan struct{})
	r := start(t, "", func(c *httpd.Config) {
		c.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			inside <- struct{}{}
			<-leave
			w.WriteHeader(http.StatusAccepted)
		})
	})
	for range places + 16 {
		r.connect("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
	}
	eventually(t, "all are there", func() bool {
		n, err := strconv.Atoi(r.metric("abagraph_http_connections"))
		return err == nil && n > places+16
	})
	var all sync.WaitGroup
	for range places + 1 {
		all.Go(func() { r.post("/mcp", `{}`).status(http.StatusAccepted) })
	}
	for range places {
		<-inside
	}
	r.get("/api/facts").status(http.StatusOK)
	select {
	case <-inside:
		t.Errorf("more than %d are inside", places)
	default:
	}
	leave <- struct{}{}
	<-inside // the one that waited
	for range places {
		leave <- struct{}{}
	}
	all.Wait()
}
