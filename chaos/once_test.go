package chaos_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/client"
)

// outside is what lies outside of a cluster: a source of events, one that is asked by
// a schedule, one that can be held up, and a webhook.
type outside struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	told  map[string]int // deliveries of the webhook, by their id
	hold  chan struct{}  // not nil: the next answer of /slow waits for it
}

func newOutside(t *testing.T) *outside {
	o := &outside{asked: map[string]int{}, told: map[string]int{}}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *outside) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.URL.Path]++
	n := o.asked[r.URL.Path]
	var hold chan struct{}
	if r.URL.Path == "/slow" {
		hold, o.hold = o.hold, nil
	}
	if r.URL.Path == "/hook" {
		o.told[r.Header.Get("X-Abagraph-Delivery")]++
	}
	o.mu.Unlock()
	switch r.URL.Path {
	case "/events":
		// Three events after the last one that is known: told twice only to who asks twice.
		since, _ := strconv.Atoi(r.URL.Query().Get("since"))
		for i := since + 1; i <= since+3; i++ {
			fmt.Fprintf(w, "{\"id\":%d,\"n\":%d,\"seq\":%d}\n", i, i, i)
		}
	case "/tick":
		fmt.Fprintf(w, `{"id":"tick","n":%d}`, n)
	case "/slow":
		word := "new"
		if hold != nil {
			word = "old"
			<-hold
		}
		fmt.Fprintf(w, `{"id":"slow","word":%q}`, word)
	case "/hook":
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func (o *outside) count(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[path]
}

// await waits until something outside, or told by a node, is so.
func (w *world) await(what string, holds func() bool) {
	w.t.Helper()
	for !holds() {
		select {
		case <-w.ctx.Done():
			w.t.Fatalf("never: %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// call has some running node do something by the API, whatever it takes.
func (w *world) call(method, path, body string) {
	w.t.Helper()
	w.must(method+" "+path, w.until(w.running(), func(ctx context.Context, c *client.Client) error {
		_, err := c.Do(ctx, client.Call{Method: method, Path: path, Body: []byte(body)})
		if method == http.MethodDelete && client.StatusOf(err) == http.StatusNotFound {
			return nil // an answer was lost
		}
		return err
	}))
}

func (w *world) running() (nodes []*chaos.Node) {
	for _, n := range w.Nodes {
		if n.Running() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// facts reads facts from some running node.
func (w *world) facts(q client.FactQuery) (list []client.Fact) {
	w.t.Helper()
	q.Limit = 10_000
	w.must("read facts", w.until(w.running(), func(ctx context.Context, c *client.Client) error {
		got, err := c.Facts(ctx, q)
		if err == nil {
			list = got.Facts
		}
		return err
	}))
	return list
}

func (w *world) alertTold(name string) bool {
	return len(w.facts(client.FactQuery{Subject: "Alert:" + name, Predicate: "alert_told"})) == 1
}

// On three nodes a source is polled, a trigger run and an alert told by one of them,
// not by three. When that one is killed, or frozen in the middle of a pull, another goes
// on from what the log says: no event is written twice, no time of a schedule is run
// twice, no alert told twice, and what the frozen one had read is not written any more.
func TestOneNodePullsAndWatches(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Args: []string{"--outbound-allow", "127.0.0.1", "--connector-poll-secs", "1", "--alert-interval-secs", "1"}})
	o := newOutside(t)
	w.call("POST", "/api/connectors", `{"name":"events","kind":"poll","url":"`+o.URL+`/events","mapping":{"subject":"Event:$id","fields":["n"]},"pull":{"cursor":{"field":"seq","param":"since"}}}`)
	w.call("POST", "/api/connectors", `{"name":"tick","url":"`+o.URL+`/tick"}`)
	w.call("POST", "/api/triggers", `{"name":"tick","connector":"tick","schedule":"@every 5s"}`)
	alert := func(name string) {
		w.call("POST", "/api/alerts", `{"name":"`+name+`","kind":"cost","threshold":0,"webhook":"`+o.URL+`/hook"}`)
		w.await(name+" is told", func() bool { return w.alertTold(name) })
	}
	alert("first")
	w.await("events and ticks come", func() bool { return o.count("/events") > 3 && o.count("/tick") > 0 })
	w.pulledByLeaders()

	old := w.leader()
	w.must("kill the leader", old.Kill())
	events, ticks := o.count("/events"), o.count("/tick")
	w.await("events and ticks go on", func() bool { return o.count("/events") > events+3 && o.count("/tick") > ticks })
	alert("second")
	w.pulledByLeaders()
	w.must("start it again", old.Start(w.ctx))

	w.overtakeFrozen(o)
	w.judgeOnce(o)
}

// overtakeFrozen freezes the leader in the middle of a pull, has another one pull, and
// lets the first one go on.
func (w *world) overtakeFrozen(o *outside) {
	w.t.Helper()
	hold := make(chan struct{})
	o.mu.Lock()
	o.hold = hold
	o.mu.Unlock()
	w.call("POST", "/api/connectors", `{"name":"slow","kind":"poll","url":"`+o.URL+`/slow"}`)
	w.await("the slow source is asked", func() bool { return o.count("/slow") > 0 })
	frozen := w.leader()
	w.must("freeze the leader", frozen.Freeze())
	w.leader(w.Others(frozen)...)
	w.await("another node asks", func() bool { return o.count("/slow") > 2 })
	close(hold)
	w.must("let it go on", frozen.Thaw())
	asked := o.count("/slow")
	w.await("the source is asked again", func() bool { return o.count("/slow") > asked+3 })
	if list := w.facts(client.FactQuery{Subject: "Record:slow", Status: "all"}); len(list) != 1 || list[0].Object.Text != "new" {
		w.t.Errorf("of the slow source there is %v", list)
	}
}

// judgeOnce pauses and deletes what goes on by itself, and looks at all that it wrote.
func (w *world) judgeOnce(o *outside) {
	w.t.Helper()
	w.call("POST", "/api/triggers/tick/pause", "")
	w.call("DELETE", "/api/connectors/events", "")
	w.await("the last run has ended", func() bool {
		list := w.facts(client.FactQuery{Subject: "Trigger:tick", Predicate: "trigger_state"})
		return len(list) == 1 && !strings.Contains(list[0].Object.Text, `"running"`)
	})
	before := len(w.facts(client.FactQuery{Predicate: "n", Status: "all"}))
	slots := map[string]int{}
	for _, f := range w.facts(client.FactQuery{Subject: "Trigger:tick", Predicate: "trigger_state", Status: "all"}) {
		if slot, running := strings.CutSuffix(f.Object.Text, `,"outcome":"running","problem":null,"records":0,"asserted":0,"skipped":0}`); running {
			slots[slot]++
		}
	}
	for slot, n := range slots {
		if n != 1 {
			w.t.Errorf("%s was claimed %d times", slot, n)
		}
	}
	if n := o.count("/tick"); n > len(slots) || n == 0 {
		w.t.Errorf("%d runs of %d times", n, len(slots))
	}
	asked, paused := o.count("/slow"), o.count("/tick")
	w.await("time goes on", func() bool { return o.count("/slow") > asked+6 })
	if n := o.count("/tick"); n != paused {
		w.t.Errorf("the paused trigger ran %d times", n-paused)
	}
	all := w.facts(client.FactQuery{Predicate: "n", Status: "all"})
	if len(all) != before {
		w.t.Errorf("a deleted connector and a paused trigger wrote %d facts", len(all)-before)
	}
	written := map[string]int{}
	for _, f := range all {
		if written[f.Subject]++; strings.HasPrefix(f.Subject, "Event:") && written[f.Subject] > 1 {
			w.t.Errorf("%s was written twice", f.Subject)
		}
	}
	for i := range len(written) - 1 {
		if written[fmt.Sprintf("Event:%d", i+1)] == 0 {
			w.t.Errorf("event %d was left out", i+1)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, n := range o.told {
		if n != 1 {
			w.t.Errorf("the webhook was told of %s %d times", id, n)
		}
	}
	if len(o.told) != 2 {
		w.t.Errorf("the webhook was told of %d states", len(o.told))
	}
}

// pulledByLeaders wants no more nodes to have pulled than were elected.
func (w *world) pulledByLeaders() {
	w.t.Helper()
	status, err := w.leader().Status(w.ctx)
	w.must("ask the leader", err)
	pullers := map[string]bool{}
	for _, f := range w.facts(client.FactQuery{Subject: "Connector:events", Predicate: "connector_state", Status: "all"}) {
		_, after, _ := strings.Cut(f.Object.Text, `"puller":"`)
		name, _, _ := strings.Cut(after, `"`)
		pullers[name] = true
	}
	if n := len(pullers); n == 0 || uint64(n) > status.Term {
		w.t.Errorf("%d nodes have pulled in %d terms", n, status.Term)
	}
}
