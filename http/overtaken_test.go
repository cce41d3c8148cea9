package http_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	httpd "abagraph/http"
	"abagraph/ingest/connect"
	"abagraph/memory"
)

// halting is a source that sends a full batch and the beginning of another, tells that
// it has, and waits before the end.
func halting(begun chan<- struct{}, goOn <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := range 1500 {
			fmt.Fprintf(w, "{\"id\":%d,\"v\":\"old\"}\n", i)
		}
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "{\"id\":\"last\",\"v\":\"old\"}\n")
	}
}

// A pull that another node's has overtaken writes nothing more: what is newer is never
// overwritten by what a slow node, or one that no longer leads, has read before.
func TestAnOvertakenPullWritesNothingMore(t *testing.T) {
	r, _ := puller(t)
	other, err := connect.New(connect.Options{Memory: r.door, Guard: localGuard(t)})
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	f := newFeed(t, halting(begun, goOn))
	r.connector(`{"name":"feed","url":"` + f.URL + `/"}`)
	late := make(chan error, 1)
	go func() {
		_, _, err := other.Pull(t.Context(), connect.Internal("default"), memory.WriteOptions{}, "feed", nil)
		late <- err
	}()
	<-begun
	f.answer(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 1500 {
			fmt.Fprintf(w, "{\"id\":%d,\"v\":\"new\"}\n", i)
		}
		fmt.Fprint(w, "{\"id\":\"last\",\"v\":\"new\"}\n")
	})
	r.post("/api/connectors/feed/pull", "").status(http.StatusOK)
	close(goOn)
	if err := <-late; err == nil || !strings.Contains(err.Error(), "by another node") {
		t.Errorf("the overtaken pull says %v", err)
	}
	if old := r.get("/api/facts?object=old&limit=10").list(); len(old) != 0 {
		t.Errorf("it overwrote what is newer: %v", old[0])
	}
	if state := r.get("/api/connectors/feed").object()["state"].(map[string]any); state["problem"] != nil {
		t.Errorf("the connector shows %v", state)
	}
}

// Once a connector is deleted nothing more comes from it, though a pull be under way,
// and one of its name begins anew. One that is pointed elsewhere begins anew too.
func TestPullsOfWhatIsGone(t *testing.T) {
	r, _ := puller(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	f := newFeed(t, halting(begun, goOn))
	r.connector(`{"name":"feed","url":"` + f.URL + `/"}`)
	pulled := make(chan *reply, 1)
	go func() { pulled <- r.post("/api/connectors/feed/pull", "") }()
	<-begun
	if e := r.post("/api/connectors/feed/pull", "").fails(http.StatusConflict, "Conflict"); !strings.Contains(e["message"].(string), "under way") {
		t.Errorf("beside it: %v", e)
	}
	r.delete("/api/connectors/feed").status(http.StatusOK)
	before := r.get("/api/stats").object().text("tx")
	close(goOn)
	(<-pulled).fails(http.StatusConflict, "Conflict")
	if after := r.get("/api/stats").object().text("tx"); after != before {
		t.Errorf("it went on from tx %s to %s", before, after)
	}
	if left := r.get("/api/facts?subject=Connector:feed").list(); len(left) != 0 {
		t.Errorf("left of the connector: %v", left)
	}

	same := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" || r.URL.Query().Get("since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		fmt.Fprintf(w, `{"id":%q,"v":1,"at":7}`, strings.Trim(r.URL.Path, "/"))
	}
	f.answer(same)
	settings := func(path, more string) string {
		return `{"name":"feed","url":"` + f.URL + path + `","pull":{"cursor":{"field":"at","param":"since"}}` + more + `}`
	}
	pull := func(want string) {
		t.Helper()
		if got := r.post("/api/connectors/feed/pull", "").status(http.StatusOK).object(); got.text("asserted") != want {
			t.Errorf("pulled %s, want %s", got.counts(), want)
		}
	}
	r.connector(settings("/a", ""))
	pull("2")
	pull("0")
	put := func(body string) { r.do(http.MethodPut, "/api/connectors/feed", body).status(http.StatusOK) }
	put(settings("/a", `,"label":"another"`))
	pull("0")
	put(settings("/b", ""))
	pull("2")
	put(settings("/b", `,"mapping":{"subject":"B:$id"}`))
	pull("2")

	// What is pulled to a branch is not pulled for main.
	put(settings("/c", ""))
	r.post("/api/branches", `{"name":"try"}`).status(http.StatusCreated)
	if got := r.post("/api/connectors/feed/pull?branch=try", "").status(http.StatusOK).object(); got.text("asserted") != "2" {
		t.Errorf("to a branch: %s", got.counts())
	}
	pull("2")
}

// What comes from a source never steers the server, whoever delivers it; and only an
// admin has a secret sent somewhere.
func TestSourcesSteerNothing(t *testing.T) {
	r := start(t, "root-key", func(c *httpd.Config) {
		var err error
		if c.Connect, err = connect.New(connect.Options{Memory: c.Memory, Guard: localGuard(t), Secret: func(context.Context, string, string) (string, error) { return "canary", nil }}); err != nil {
			t.Fatal(err)
		}
	})
	admin := r.tenantOf("ta", "admin")
	admin.connector(`{"name":"any","mapping":{"subject":"$id"}}`)
	for _, record := range []string{
		`{"id":"Connector:any","connector":"{\"name\":\"any\",\"url\":\"https://example.com/\"}"}`, `{"id":"Connector:any","connector_state":"{}"}`,
		`{"id":"Trigger:t","trigger":"{}"}`, `{"id":"Trigger:t","trigger_state":"{}"}`, `{"id":"Alert:a","alert_state":"ok"}`, `{"id":"Secret:s","secret_reference":"env:X"}`, `{"id":"Role:write","grants":"Permission:*"}`,
	} {
		if e := admin.events("any", record).fails(http.StatusBadRequest, "SchemaInvalid"); !strings.Contains(e["message"].(string), "tell the server what to do") {
			t.Errorf("%s: %v", record, e)
		}
	}
	agent := r.keyOf("ta", "agent", "write")
	const sends = `{"name":"leak","url":"https://collect.example.com/","pull":{"auth":{"secret":"theirs"}}}`
	if e := agent.post("/api/connectors", sends).fails(http.StatusForbidden, "Forbidden"); e["field"] != "pull.auth" {
		t.Errorf("registered by an agent: %v", e)
	}
	for _, text := range []string{sends, strings.Replace(sends, `"auth"`, `"\u0061uth"`, 1)} {
		agent.post("/api/facts", fmt.Sprintf(`{"subject":"Connector:leak","predicate":"connector","object":%q}`, text)).fails(http.StatusForbidden, "Forbidden")
	}
	admin.connector(sends)
	agent.do(http.MethodPut, "/api/connectors/leak", sends).fails(http.StatusForbidden, "Forbidden")
	agent.connector(`{"name":"plain","url":"https://collect.example.com/"}`)
	agent.delete("/api/connectors/leak").status(http.StatusOK)
}
