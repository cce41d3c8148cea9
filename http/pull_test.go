package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/ingest/connect"
	"abagraph/memory"
)

// feed is a source that answers as it is told to, and remembers what it was asked.
type feed struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
	serve http.HandlerFunc
}

func newFeed(t *testing.T, serve http.HandlerFunc) *feed {
	f := &feed{serve: serve}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r)
		serve := f.serve
		f.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *feed) answer(serve http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve, f.asked = serve, nil
}

func (f *feed) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// puller is a server that may call the loopback, and knows one secret.
func puller(t *testing.T) (*rig, *connect.Service) {
	var service *connect.Service
	r := startWith(t, memory.Options{}, func(c *httpd.Config) {
		var err error
		service, err = connect.New(connect.Options{Memory: c.Memory, Guard: localGuard(t), Logger: c.Logger, Secret: func(context.Context, string, string) (string, error) {
			return "canary-secret", nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.Connect = service
	})
	return r, service
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// A pull reads page after page, asks with the cursor and the validators of the last
// one, and what it reads twice changes nothing.
func TestPullsGoOnWhereTheyWere(t *testing.T) {
	r, _ := puller(t)
	f := newFeed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token canary-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch since, page := r.URL.Query().Get("since"), r.URL.Query().Get("page"); {
		case since == "" && page == "":
			fmt.Fprint(w, `{"data":{"items":[{"id":1,"v":"a","at":9},{"id":2,"v":"b","at":10}]},"paging":{"next":"?page=2"}}`)
		case page == "2":
			fmt.Fprint(w, `{"data":{"items":[{"id":3,"v":"c","at":8},{"v":"no id"}]},"paging":{"next":null}}`)
		case since == "10":
			fmt.Fprint(w, `{"data":{"items":[{"id":2,"v":"b","at":10},{"id":1,"v":"A","at":11}]}}`)
		default:
			fmt.Fprint(w, `{"data":{"items":[]}}`)
		}
	})
	r.connector(`{"name":"feed","kind":"poll","url":"` + f.URL + `/items","mapping":{"subject":"I:$id","fields":["v"]},
		"pull":{"items":"data.items","next":"paging.next","cursor":{"field":"at","param":"since"},"auth":{"secret":"token","prefix":"Token "}}}`)
	got := r.post("/api/connectors/feed/pull", "").status(http.StatusOK).object()
	if got.counts() != "3 asserted, 0 held, 0 superseded, 0 duplicates; 4 records, 1 skipped" || got.text("pages") != "2" || got["cursor"] != "10" {
		t.Errorf("pulled: %v", got)
	}
	got = r.post("/api/connectors/feed/pull", "{}").status(http.StatusOK).object()
	if got.counts() != "1 asserted, 0 held, 1 superseded, 1 duplicates; 2 records, 0 skipped" || got["cursor"] != "11" {
		t.Errorf("pulled: %v", got)
	}
	got = r.post("/api/connectors/feed/pull", "").status(http.StatusOK).object()
	if got.text("records") != "0" || r.get("/api/connectors/feed").object()["state"].(map[string]any)["cursor"] != "11" {
		t.Errorf("pulled: %v", got)
	}
	if all := r.get("/api/facts?status=all").Body + r.logs.String() + r.get("/api/connectors/feed").Body; strings.Contains(all, "canary") {
		t.Error("the secret shows")
	}

	// A Link header, and an answer that has not changed.
	linked := newFeed(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") == `"v1"`:
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/2":
			fmt.Fprint(w, `{"id":2,"v":1}`)
		default:
			w.Header().Set("Link", `</1>; rel="prev", </2>; rel="next"`)
			fmt.Fprint(w, "{\"id\":0,\"v\":1}\n{\"id\":1,\"v\":1}\n")
		}
	})
	r.connector(`{"name":"linked","url":"` + linked.URL + `/"}`)
	if got = r.post("/api/connectors/linked/pull", "").status(http.StatusOK).object(); got.text("asserted") != "3" || got.text("pages") != "2" {
		t.Errorf("linked: %v", got)
	}
	linked.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, "id,v\r\n7,x\r\n")
	})
	for i, want := range []bool{false, true, true} {
		before := r.get("/api/stats").object().text("tx")
		if got = r.post("/api/connectors/linked/pull", "").status(http.StatusOK).object(); got["unchanged"] != want {
			t.Errorf("pull %d: %v", i, got)
		}
		if after := r.get("/api/stats").object().text("tx"); want && after != before {
			t.Errorf("pull %d wrote, with nothing new", i)
		}
	}
}

// What a source can do wrong: the pull fails with a reason, which the connector
// shows, keeps its cursor, and works again afterwards.
func TestSSR03PullsThatFail(t *testing.T) {
	r, _ := puller(t)
	inside := newFeed(t, text(`{"id":"inside","v":1}`))
	f := newFeed(t, text(`{"id":1,"v":1}`))
	r.connector(`{"name":"f","kind":"poll","url":"` + f.URL + `/","pull":{"auth":{"secret":"s"}}}`)
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		says  string
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "status 500"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest", 302)
		}, "private or local"},
		"for ever":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", 307) }, "redirects too often"},
		"scheme":     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "file:///etc/passwd", 301) }, "http"},
		"empty":      {text(""), "empty"},
		"html":       {text("<html>"), "malformed JSON"},
		"no mapping": {text(`[{"v":1},{"v":2}]`), "none of the 2 records"},
		"deep":       {text(strings.Repeat("[", 100_000)), "JSON"},
		"other host": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "<"+inside.URL+">; rel=next")
			fmt.Fprint(w, "[]")
		}, "another host"},
		"loop": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</>; rel=next")
			fmt.Fprint(w, "[]")
		}, "do not end"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{\"id\"")
		}, ""},
		"next for ever": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "<?n="+fmt.Sprint(len(r.URL.RawQuery))+r.URL.RawQuery+">; rel=next")
			fmt.Fprint(w, "[]")
		}, "do not end"},
	} {
		f.answer(c.serve)
		e := r.post("/api/connectors/f/pull", "").fails(http.StatusBadRequest, "SchemaInvalid")
		if !strings.Contains(e["message"].(string), c.says) {
			t.Errorf("%s: %v", name, e)
		}
		if field := e["field"]; field != "url" && name != "no mapping" {
			t.Errorf("%s: the field is %v", name, field)
		}
		if state := r.get("/api/connectors/f").object()["state"].(map[string]any); state["problem"] != e["message"] {
			t.Errorf("%s: the connector shows %v", name, state)
		}
	}
	if len(inside.requests()) != 0 {
		t.Error("another host was asked")
	}
	if got := r.get("/api/facts?predicate=v").list(); len(got) != 0 {
		t.Errorf("written by pulls that failed: %v", got)
	}
	f.answer(text(`{"id":1,"v":1}`))
	r.post("/api/connectors/f/pull", "").status(http.StatusOK)
	if state := r.get("/api/connectors/f").object()["state"].(map[string]any); state["problem"] != nil {
		t.Errorf("after a good pull the connector shows %v", state)
	}
	// A redirect to another host that may be called goes without the secret.
	f.answer(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside.URL+"/x", 302) })
	r.post("/api/connectors/f/pull", "").status(http.StatusOK)
	if list := inside.requests(); len(list) != 1 || list[0].Header.Get("Authorization") != "" {
		t.Errorf("the other host was sent %v", list)
	}
	r.connector(`{"name":"hook"}`)
	if e := r.post("/api/connectors/hook/pull", "").fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != "url" {
		t.Errorf("without a url: %v", e)
	}
	r.post("/api/connectors/none/pull", "").fails(http.StatusNotFound, "NotFound")
	for _, inner := range []string{"http://169.254.169.254/", "http://[::ffff:10.0.0.1]/", "http://2130706433/", "http://localhost:9000/", "ftp://example.com/", "http://user@example.com/"} {
		if strings.Contains(inner, "localhost") {
			continue // this server's list opens the loopback
		}
		if e := r.post("/api/connectors", `{"name":"inner","url":"`+inner+`"}`).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != "url" {
			t.Errorf("%s: %v", inner, e)
		}
	}
}

// In the background every connector of kind poll is pulled, by the node that leads; a
// source that hangs holds up no other, and ends with the node.
func TestPollingInTheBackground(t *testing.T) {
	r, service := puller(t)
	var leads atomic.Bool
	hangs := make(chan struct{})
	slow := newFeed(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hangs) })
	good := newFeed(t, text(`{"id":1,"v":1}`))
	r.connector(`{"name":"slow","kind":"poll","url":"`+slow.URL+`/"}`, "?tenant=ta")
	if made := r.connector(`{"name":"good","kind":"pull","url":"`+good.URL+`/"}`, "?tenant=tb"); made["kind"] != "poll" {
		t.Errorf("pull mode is registered as %v", made)
	}
	r.connector(`{"name":"hook","kind":"webhook","url":"`+good.URL+`/never"}`, "?tenant=tb")
	var asked atomic.Int32
	p := service.StartPoller(5*time.Millisecond, func() bool { asked.Add(1); return leads.Load() })
	defer p.Stop()
	for asked.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	if len(good.requests())+len(slow.requests()) != 0 {
		t.Error("a node that does not lead has polled")
	}
	leads.Store(true)
	for len(r.get("/api/facts?tenant=tb&predicate=v").list()) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	r.post("/api/facts?tenant=tc", `{"subject":"a","predicate":"b","object":1}`).status(http.StatusCreated)
	for _, q := range good.requests() {
		if q.URL.Path != "/" {
			t.Errorf("asked for %s", q.URL.Path)
		}
	}
	for len(good.requests()) < 3 {
		time.Sleep(5 * time.Millisecond) // round after round, beside the one that hangs
	}
	if len(slow.requests()) != 1 {
		t.Errorf("the one that hangs was asked %d times", len(slow.requests()))
	}
	if got := r.post("/api/connectors/slow/pull?tenant=ta", ""); got.Status != http.StatusConflict {
		t.Errorf("beside the poll: %d %s", got.Status, got.Body)
	}
	if f := r.get("/api/facts?tenant=tb&predicate=v").list()[0]; f["source"] != "good" || fact.CheckName("", f.text("subject")) != nil {
		t.Errorf("polled %v", f)
	}
}

// What the server fetches by itself is under the tenant's policy: a connector is no
// way around it, and least of all a way to change it.
func TestPollingIsUnderThePolicy(t *testing.T) {
	r, service := puller(t)
	sly := newFeed(t, text(`{"id":"write","grants":"Permission:*"}`))
	good, other := newFeed(t, text(`{"id":1,"v":1}`)), newFeed(t, text(`{"id":2,"v":2}`))
	r.connector(`{"name":"sly","kind":"poll","url":"`+sly.URL+`/","mapping":{"subject":"Role:$id","fields":["grants"],"policy":"coexist"}}`, "?tenant=ta")
	r.connector(`{"name":"good","kind":"poll","url":"`+good.URL+`/"}`, "?tenant=tb")
	r.connector(`{"name":"other","kind":"poll","url":"`+other.URL+`/"}`, "?tenant=tb")
	r.do(http.MethodPut, "/api/policy?tenant=tb", `{"version":"v1","rules":[{"agent":"connector/good","permissions":["facts:write"],"sources":["good"]}]}`).status(http.StatusOK)
	p := service.StartPoller(5*time.Millisecond, func() bool { return true })
	defer p.Stop()
	for len(sly.requests()) < 2 || len(other.requests()) < 2 || len(r.get("/api/facts?tenant=tb&predicate=v").list()) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if got := r.get("/api/policy?tenant=ta").object(); got["active"] != false {
		t.Errorf("a connector wrote a policy: %v", got)
	}
	if got := column(r.get("/api/facts?tenant=tb&predicate=v").list(), "source"); got != `"good"` {
		t.Errorf("written by %s", got)
	}
	if got := r.get("/api/connectors/other?tenant=tb").status(http.StatusOK).Body; !strings.Contains(got, "no rule of the policy grants") {
		t.Errorf("it does not say why: %s", got)
	}
}

// The documents' events of connectors are told with their fields, and none of them
// tells what a record said.
func TestConnectorsTellWhatTheyDo(t *testing.T) {
	r, service := puller(t)
	good := newFeed(t, text(`{"id":"unheard-of","v":1}`))
	bad := newFeed(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	odd := newFeed(t, text(`{"v":"unheard-of"}`))
	r.connector(`{"name":"hook"}`)
	r.connector(`{"name":"hook"}`)
	r.events("hook", `{"id":"unheard-of","mail":"unheard-of@example.com"}`).status(http.StatusOK)
	for name, f := range map[string]*feed{"good": good, "bad": bad, "odd": odd} {
		r.connector(`{"name":"` + name + `","kind":"poll","url":"` + f.URL + `/"}`)
	}
	p := service.StartPoller(5*time.Millisecond, func() bool { return true })
	defer p.Stop()
	for len(good.requests()) < 2 || len(bad.requests()) < 2 || len(odd.requests()) < 2 {
		time.Sleep(5 * time.Millisecond)
	}
	lines := r.logs.String()
	for _, want := range []string{
		`"event":"abagraph.connector.register","name":"hook","kind":"webhook"`,
		`"event":"abagraph.connector.ingest","name":"hook","records":1,"skipped":0,"asserted":1,"held":0,"superseded":0`,
		`"event":"abagraph.pii.masked","path":"/api/connectors/:name/events","masked":1`,
		`"event":"abagraph.connector.poll_start","interval_secs":0.005`,
		`"event":"abagraph.connector.poll_ingest","name":"good","records":1,"skipped":0,"asserted":1`,
		`"event":"abagraph.connector.poll_fetch_err","name":"bad","error":`,
		`"event":"abagraph.connector.poll_ingest_err","name":"odd","error":`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("the log does not tell %s", want)
		}
	}
	if n := strings.Count(lines, `"abagraph.connector.register","name":"hook"`); n != 1 {
		t.Errorf("it was registered %d times", n)
	}
	if strings.Contains(lines, "unheard-of") {
		t.Error("a line tells what a record said")
	}
	if t.Failed() {
		t.Log(lines)
	}
}
