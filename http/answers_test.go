package http_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	httpd "abagraph/http"
	"abagraph/memory"
)

// TestLargeAnswersThatNobodyReads: who asks for much and does not read it is
// refused more of it, and nobody else is; what is small is answered in any case.
func TestLargeAnswersThatNobodyReads(t *testing.T) {
	r := startWith(t, memory.Options{AdminKey: "operator"}, func(c *httpd.Config) { c.MaxSending = 64 << 20 })
	key := func(tenant string) string {
		return r.post("/api/tenants", fmt.Sprintf(`{"id":%q}`, tenant)).status(201).object()["key"].(string)
	}
	greedy, calm := r.as(key("greedy")), r.as(key("calm"))
	for i := range 24 {
		for _, who := range []*rig{greedy, calm} {
			who.assert(fmt.Sprintf("Page:%d", i), "text", fmt.Sprintf("%q", strings.Repeat("x", 1<<20-1)))
		}
	}
	conn := r.connect("GET /api/facts?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + greedy.key + "\r\n\r\n")
	if line, err := bufio.NewReaderSize(conn, 64).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	} // and reads no further
	refused := greedy.get("/api/facts?limit=100")
	if refused.fails(http.StatusTooManyRequests, "RateLimited"); refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	greedy.get("/api/facts?subject=Page:1&predicate=none").status(http.StatusOK)
	calm.get("/api/facts?limit=100").status(http.StatusOK)
	r.get("/api/facts?limit=20").status(http.StatusOK)
	if !strings.Contains(r.get("/metrics").Body, `abagraph_refused_total{reason="answers"} 1`) {
		t.Error("the metrics do not count what was refused")
	}
	conn.Close()
	eventually(t, "it is answered again", func() bool { return greedy.get("/api/facts?limit=100").Status == http.StatusOK })
}
