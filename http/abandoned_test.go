package http_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A run whose node died in the middle of it is begun again, once nobody can be running
// it any more; and a run waits for a pull of its connector that is under way.
func TestAbandonedRunsAreBegunAgain(t *testing.T) {
	r, service := triggered(t)
	f := newFeed(t, text(`{"id":1,"v":1}`))
	r.connector(`{"name":"feed","url":"` + f.URL + `/"}`)
	r.post("/api/triggers", `{"name":"hourly","connector":"feed","schedule":"@every 1h"}`).status(http.StatusOK)
	r.node.Advance(time.Hour + time.Second)
	dead := fmt.Sprintf(`{"slot":%d,"outcome":"running","problem":null,"records":0,"asserted":0,"skipped":0}`, r.node.Now())
	r.assert("Trigger:hourly", "trigger_state", fmt.Sprintf("%q", dead))
	looks := 0
	runner := service.Start(2*time.Millisecond, func() bool { looks++; return true }, func() time.Time { return time.UnixMilli(int64(r.node.Now())) })
	time.Sleep(30 * time.Millisecond)
	if n := len(f.requests()); n != 0 {
		t.Errorf("begun again at once: %d requests", n)
	}
	r.node.Advance(5 * time.Minute)
	eventually(t, "another attempt", func() bool { _, last := r.trigger("hourly"); return last["outcome"] == "ok" })
	time.Sleep(30 * time.Millisecond)
	if _, last := r.trigger("hourly"); last.text("attempts") != "2" || len(f.requests()) != 1 {
		t.Errorf("%d requests, last %v", len(f.requests()), last)
	}
	runner.Stop()
	if looks == 0 {
		t.Error("nothing was looked at")
	}

	begun, goOn := make(chan struct{}), make(chan struct{})
	f.answer(halting(begun, goOn))
	first := make(chan *reply, 1)
	go func() { first <- r.post("/api/connectors/feed/pull", "") }()
	<-begun
	second := make(chan *reply, 1)
	go func() { second <- r.post("/api/triggers/hourly/run", "") }()
	time.Sleep(20 * time.Millisecond)
	f.answer(text(`{"id":1,"v":2}`))
	close(goOn)
	(<-first).status(http.StatusOK)
	(<-second).status(http.StatusOK)
	if got := r.values("/api/facts?subject=Record:1"); got != "2" {
		t.Errorf("the one that waited left %s", got)
	}
}
