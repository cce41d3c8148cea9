package http_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/ingest/connect"
)

// TestADeletedTenantsWorkEnds: what a tenant had the server do by itself, polls,
// triggers, alerts and reports, ends with the tenant, and that of others goes on.
func TestADeletedTenantsWorkEnds(t *testing.T) {
	r, triggers := triggered(t)
	r.afterTheHour()
	var of [2]atomic.Int64
	for i, tenant := range []string{"gone", "stays"} {
		r.post("/api/tenants", `{"id":"`+tenant+`"}`).status(http.StatusCreated)
		f := newFeed(t, func(w http.ResponseWriter, q *http.Request) {
			of[i].Add(1)
			text(`{"id":1}`)(w, q)
		})
		at := "?tenant=" + tenant
		r.connector(`{"name":"feed","kind":"poll","url":"`+f.URL+`/"}`, at)
		r.post("/api/triggers"+at, `{"name":"t","connector":"feed","schedule":"* * * * *"}`).status(http.StatusOK)
		r.post("/api/reports"+at, `{"name":"r","schedule":"* * * * *"}`).status(http.StatusCreated)
		r.post("/api/alerts"+at, `{"name":"a","kind":"freshness","threshold":60}`).status(http.StatusCreated)
	}
	r.delete("/api/tenants/gone").status(http.StatusOK)
	r.node.Advance(time.Hour)
	leads, now := func() bool { return true }, func() time.Time { return time.UnixMilli(int64(r.node.Now())) }
	runner := triggers.Start(3*time.Millisecond, leads, now)
	defer runner.Stop()
	eventually(t, "the trigger of the other tenant", func() bool { return of[1].Load() == 1 })
	connectors, err := connect.New(connect.Options{Memory: r.door, Guard: localGuard(t)})
	if err != nil {
		t.Fatal(err)
	}
	poller := connectors.StartPoller(3*time.Millisecond, leads)
	defer poller.Stop()
	eventually(t, "polls of the other tenant", func() bool { return of[1].Load() > 3 })
	if n := of[0].Load(); n != 0 {
		t.Errorf("the source of a deleted tenant was asked %d times", n)
	}
	due, err := r.door.DueReports(t.Context(), r.node.Now())
	if err != nil || len(due) != 1 || due[0].Tenant != "stays" {
		t.Errorf("due are %v, %v", due, err)
	}
	watched, err := r.door.WatchedTenants(t.Context())
	if err != nil || len(watched) != 1 || watched[0] != "stays" {
		t.Errorf("watched are %v, %v", watched, err)
	}
}
