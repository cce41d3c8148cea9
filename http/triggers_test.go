package http_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/ingest/connect"
	"abagraph/ingest/trigger"
	"abagraph/memory"
)

// triggered is a server whose triggers run by the clock of its node.
func triggered(t *testing.T) (*rig, *trigger.Service) {
	var service *trigger.Service
	r := startWith(t, memory.Options{}, func(c *httpd.Config) {
		var err error
		c.Connect, err = connect.New(connect.Options{Memory: c.Memory, Guard: localGuard(t), Secret: func(context.Context, string, string) (string, error) { return "x", nil }})
		if err != nil {
			t.Fatal(err)
		}
		if service, err = trigger.New(trigger.Options{Memory: c.Memory, Connect: c.Connect, Logger: c.Logger}); err != nil {
			t.Fatal(err)
		}
		c.Triggers = service
	})
	return r, service
}

// afterTheHour sets the node's clock to just behind a full hour, so that no time of a
// schedule comes by itself while a test runs.
func (r *rig) afterTheHour() {
	r.node.Advance(time.Hour - time.Duration(r.node.Now()%3_600_000)*time.Millisecond + time.Second)
}

// eventually waits for something that happens by itself.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: never", what)
}

func (r *rig) trigger(name string) (doc, doc) {
	r.t.Helper()
	d := r.get("/api/triggers/" + name).status(http.StatusOK).object()
	return d, doc(d["last"].(map[string]any))
}

// Each time of a schedule runs once, whichever of two nodes that both believe to lead
// takes it; missed times are one run; a paused trigger does not run.
func TestSchedulesRunOnce(t *testing.T) {
	r, service := triggered(t)
	r.afterTheHour()
	var n atomic.Int64
	f := newFeed(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"id":1,"n":%d}`, n.Add(1)) })
	r.connector(`{"name":"feed","url":"` + f.URL + `/"}`)
	declared := r.post("/api/triggers", `{"name":"Each quarter","connector":"feed","schedule":"*/15 * * * *","timezone":"Europe/Berlin"}`).status(http.StatusOK).object()
	if declared["name"] != "each_quarter" || declared["kind"] != "schedule" || declared["paused"] != false {
		t.Errorf("declared: %v", declared)
	}
	leads := func() bool { return true }
	now := func() time.Time { return time.UnixMilli(int64(r.node.Now())) }
	for range 2 {
		runner := service.Start(3*time.Millisecond, leads, now)
		defer runner.Stop()
	}
	ran := func(want int64) {
		t.Helper()
		eventually(t, fmt.Sprint("run ", want), func() bool {
			_, last := r.trigger("each_quarter")
			return n.Load() >= want && last["outcome"] == "ok"
		})
		time.Sleep(30 * time.Millisecond) // for the other one, if it ran too
		if got := n.Load(); got != want {
			t.Fatalf("%d runs, want %d", got, want)
		}
	}
	row, last := r.trigger("each_quarter")
	if last["outcome"] != nil || millis(t, row["next"])%900_000 != 0 {
		t.Errorf("before the first run: %v", row)
	}
	r.node.Advance(15 * time.Minute)
	ran(1)
	r.node.Advance(15 * time.Minute)
	ran(2)
	r.node.Advance(5 * time.Hour)
	ran(3)
	if _, last = r.trigger("each_quarter"); millis(t, last["slot"])%900_000 != 0 || millis(t, last["slot"]) <= int64(r.node.Now())-900_000 || last.text("asserted") != "1" {
		t.Errorf("after the missed ones: %v", last)
	}
	if paused := r.post("/api/triggers/each-quarter/pause", "").status(http.StatusOK).object(); paused["paused"] != true {
		t.Errorf("paused: %v", paused)
	}
	r.node.Advance(time.Hour)
	time.Sleep(30 * time.Millisecond)
	if row, _ = r.trigger("each_quarter"); n.Load() != 3 || row["next"] != nil {
		t.Errorf("it ran %d times while it was paused: %v", n.Load(), row)
	}
	r.post("/api/triggers/each_quarter/run", "{}").status(http.StatusOK)
	if n.Load() != 4 {
		t.Error("it does not run when it is told to")
	}
	r.post("/api/triggers/each_quarter/resume", "").status(http.StatusOK)
	time.Sleep(30 * time.Millisecond)
	if n.Load() != 4 {
		t.Error("what was missed while it was paused was made up for")
	}
	r.node.Advance(15 * time.Minute)
	ran(5)
	f.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	r.node.Advance(15 * time.Minute)
	eventually(t, "a failure shows", func() bool {
		_, last := r.trigger("each_quarter")
		return last["outcome"] == "failed" && strings.Contains(last.text("problem"), "status 500")
	})
	if got := r.delete("/api/triggers/each_quarter").status(http.StatusOK).object(); got["deleted"] != "each_quarter" {
		t.Errorf("deleted: %v", got)
	}
	r.get("/api/triggers/each_quarter").fails(http.StatusNotFound, "NotFound")
}

// A source that tells by a cursor what has changed is looked at again and again; while
// it has nothing new, nothing is written.
func TestChangesAreFollowed(t *testing.T) {
	r, service := triggered(t)
	var newest atomic.Int64
	newest.Store(1)
	f := newFeed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == fmt.Sprint(newest.Load()) {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprintf(w, `[{"id":"row","seq":%d,"v":"v%d"}]`, newest.Load(), newest.Load())
	})
	r.connector(`{"name":"log","url":"` + f.URL + `/","mapping":{"fields":["v"]},"pull":{"cursor":{"field":"seq","param":"after"}}}`)
	r.post("/api/triggers", `{"name":"cdc","connector":"log","every_secs":5}`).status(http.StatusOK)
	runner := service.Start(3*time.Millisecond, func() bool { return true }, func() time.Time { return time.UnixMilli(int64(r.node.Now())) })
	defer runner.Stop()
	for i := range 3 {
		newest.Store(int64(i + 1))
		r.node.Advance(6 * time.Second)
		eventually(t, "a change", func() bool { return r.values("/api/facts?subject=Record:row") == fmt.Sprintf(`"v%d"`, i+1) })
	}
	eventually(t, "the end of a run", func() bool { _, last := r.trigger("cdc"); return last["outcome"] == "ok" })
	before, asked := r.get("/api/stats").object().text("tx"), len(f.requests())
	for range 3 {
		was := len(f.requests())
		r.node.Advance(6 * time.Second)
		eventually(t, "another look", func() bool { return len(f.requests()) > was })
	}
	if after := r.get("/api/stats").object().text("tx"); after != before || len(f.requests()) <= asked {
		t.Errorf("looks without anything new wrote: tx %s, then %s", before, after)
	}
}

// A trigger that cannot be is refused by its field; declaring one twice changes nothing;
// another tenant's is one that is not there.
func TestTriggersThatCannotBe(t *testing.T) {
	r, _ := triggered(t)
	f := newFeed(t, text("[]"))
	r.connector(`{"name":"feed","url":"` + f.URL + `/"}`)
	r.connector(`{"name":"hook"}`)
	for body, field := range map[string]string{
		`{"connector":"feed","schedule":"@daily"}`:                                          "name",
		`{"name":"t","schedule":"@daily"}`:                                                  "connector",
		`{"name":"t","connector":"none","schedule":"@daily"}`:                               "connector",
		`{"name":"t","connector":"hook","schedule":"@daily"}`:                               "connector",
		`{"name":"t","connector":"feed"}`:                                                   "schedule",
		`{"name":"t","connector":"feed","schedule":"* * *"}`:                                "schedule",
		`{"name":"t","connector":"feed","schedule":"61 * * * *"}`:                           "schedule",
		`{"name":"t","connector":"feed","schedule":"0 0 30 2 *"}`:                           "schedule",
		`{"name":"t","connector":"feed","schedule":"TZ=UTC 0 0 * * *"}`:                     "schedule",
		`{"name":"t","connector":"feed","schedule":"TZ="}`:                                  "schedule",
		`{"name":"t","connector":"feed","schedule":"@every 0s"}`:                            "schedule",
		`{"name":"t","connector":"feed","schedule":"` + strings.Repeat("1,", 200) + `"}`:    "schedule",
		`{"name":"t","connector":"feed","schedule":"@daily","timezone":"Mars/Olympus"}`:     "timezone",
		`{"name":"t","connector":"feed","schedule":"@daily","timezone":"../../etc/passwd"}`: "timezone",
		`{"name":"t","connector":"feed","schedule":"@daily","every_secs":60}`:               "every_secs",
		`{"name":"t","connector":"feed","every_secs":60}`:                                   "every_secs",
		`{"name":"t","connector":"feed","every_secs":1}`:                                    "every_secs",
		`{"name":"t","connector":"feed","every_secs":60,"timezone":"UTC"}`:                  "timezone",
		`{"name":"t","connector":"feed","schedule":"@daily","at":1}`:                        "at",
		`{"name":"t","connector":"feed","schedule":"@daily","branch":"b"}`:                  "branch",
	} {
		if e := r.post("/api/triggers", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%.90s: %v", body, e)
		}
	}
	if got := r.get("/api/triggers").Body; got != `{"triggers":[]}` {
		t.Errorf("listed: %s", got)
	}
	r.post("/api/triggers", `{"name":"a-b","connector":"feed","schedule":"@daily"}`).status(http.StatusOK)
	if same := r.post("/api/triggers", `{"name":"a-b","connector":"feed","schedule":"@daily"}`).object(); same["existed"] != true || same["warnings"] != nil {
		t.Errorf("again: %v", same)
	}
	if other := r.post("/api/triggers", `{"name":"a-b","connector":"feed","schedule":"@hourly"}`).object(); other["schedule"] != "@daily" || other["warnings"] == nil {
		t.Errorf("with another schedule: %v", other)
	}
	r.post("/api/triggers", `{"name":"A b","connector":"feed","schedule":"@daily"}`).fails(http.StatusConflict, "Conflict")
	if put := r.do(http.MethodPut, "/api/triggers/a_b", `{"name":"a-b","connector":"feed","schedule":"@hourly"}`).status(http.StatusOK).object(); put["schedule"] != "@hourly" {
		t.Errorf("replaced: %v", put)
	}
	for _, got := range []*reply{r.get("/api/triggers/a_b?tenant=tb"), r.post("/api/triggers/a_b/run?tenant=tb", ""), r.delete("/api/triggers/a_b?tenant=tb"), r.post("/api/triggers/a_b/pause?tenant=tb", "")} {
		got.fails(http.StatusNotFound, "NotFound")
	}
}
