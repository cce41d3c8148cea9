package http_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"abagraph/memory"
)

// TestTenantLimits has one tenant flood a server that bounds it, over REST and MCP:
// it is told to come again, nothing of what was refused is done, and its neighbour
// and the operator notice nothing.
func TestTenantLimits(t *testing.T) {
	now := time.Now()
	r := startWith(t, memory.Options{AdminKey: "operator", Limits: memory.Limits{RequestsPerSecond: 5, RowsPerSecond: 10}, Now: func() time.Time { return now }})
	key := func(tenant string) string {
		return r.post("/api/tenants", fmt.Sprintf(`{"id":%q}`, tenant)).status(201).object()["key"].(string)
	}
	flood, calm := r.as(key("flood")), r.as(key("calm"))
	const fact = `{"subject":"Person:1","predicate":"n","object":%d,"policy":"coexist"}`
	for i := range 10 {
		flood.post("/api/facts", fmt.Sprintf(fact, i)).status(201)
	}
	for i := range 3 {
		got := flood.post("/api/facts", fmt.Sprintf(fact, 100+i)).status(429)
		if got.Header.Get("Retry-After") != "1" || !strings.Contains(got.Body, `"code":"RateLimited"`) || !strings.Contains(got.Body, "5 requests a second") {
			t.Errorf("a refusal says %q %s", got.Header.Get("Retry-After"), got.Body)
		}
		flood.get("/api/facts").status(429)
		flood.get("/api/health").status(200)
	}
	for i := range 10 {
		calm.post("/api/facts", fmt.Sprintf(fact, i)).status(201)
	}
	for range 30 {
		if n := len(r.get("/api/facts?subject=Person:1&limit=1000").status(200).list()); n != 20 {
			t.Fatalf("%d facts are there, not 20", n)
		}
	}
	if !strings.Contains(r.get("/metrics").status(200).Body, `abagraph_refused_total{reason="requests"} 6`) {
		t.Error("the metrics do not count what was refused")
	}
}

// TestTenantRows bounds the rows that a tenant writes: a whole transact always has
// its turn, and the next one waits for what it took.
func TestTenantRows(t *testing.T) {
	now := time.Now()
	r := startWith(t, memory.Options{Limits: memory.Limits{RowsPerSecond: 100}, Now: func() time.Time { return now }})
	rows := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"subject":"Row:%d","predicate":"n","object":%d}`, from+i, i)
		}
		return `{"asserts":[` + b.String()[1:] + `]}`
	}
	r.post("/api/transact", rows(0, 6000)).status(200)
	got := r.post("/api/transact", rows(6000, 6000)).status(429)
	if got.Header.Get("Retry-After") != "20" || !strings.Contains(got.Body, "nothing was done") {
		t.Errorf("a refusal says %q %s", got.Header.Get("Retry-After"), got.Body)
	}
	r.post("/api/transact", rows(6000, 4000)).status(200)
	r.get("/api/facts").status(200)
	now = now.Add(20 * time.Second)
	r.post("/api/transact", rows(10_000, 2000)).status(200)
	r.post("/api/transact", rows(12_000, 1)).status(429)
	if !strings.Contains(r.get("/metrics").status(200).Body, `abagraph_refused_total{reason="rows"} 2`) {
		t.Error("the metrics do not count what was refused")
	}
}
