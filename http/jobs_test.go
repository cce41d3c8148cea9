package http_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/ingest"
	"abagraph/internal/models/standin"
	"abagraph/memory"
)

// longText has so many chapters, each a chunk of its own with one fact.
func longText(chapters int) string {
	var b strings.Builder
	for i := range chapters {
		fmt.Fprintf(&b, "# Chapter %d\n\nPerson%d works at Acme. %s\n\n", i, i, strings.Repeat("Nothing else happened that day. ", 170))
	}
	return b.String()
}

var someone = regexp.MustCompile(`Person(\d+) works`)

// chapters is a stand-in that finds the one fact of each chunk, and fails where fail
// says so.
type chapters struct {
	mu   sync.Mutex
	read map[string]int // how often each chunk was extracted
	fail func(person string) *standin.Reply
}

func (m *chapters) reply(c standin.Call) standin.Reply {
	if c.Name == "scores" {
		return reader{}.reply(c)
	}
	chapter := someone.FindStringSubmatch(c.Text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		if bad := m.fail(chapter[1]); bad != nil {
			return *bad
		}
	}
	m.read[chapter[1]]++
	return standin.Reply{JSON: `{"facts":[` + found("Person:person"+chapter[1], "works_at", "Org:acme", "Person"+chapter[1]+" works at Acme") + `]}`}
}

func (m *chapters) failing(fail func(string) *standin.Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// settled waits until a job is no longer running.
func (r *rig) settled(id string) doc {
	r.t.Helper()
	for range 1000 {
		if j := r.get("/api/digest/jobs/" + id).status(200).object(); j.text("status") != "running" {
			return j
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("the job does not end")
	return nil
}

const chaptersOfJob = 20

// TestALongTextIsAJob: taken at once, read chunk by chunk, stopped by a model that
// fails and resumed with another key, each chunk written once; and nowhere a key.
func TestALongTextIsAJob(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	m.failing(func(person string) *standin.Reply {
		if person == "7" {
			return &standin.Reply{Status: 401}
		}
		return nil
	})
	r, s := withModel(t, memory.Options{}, m.reply)
	body := digestBody(t, s, "openai", longText(chaptersOfJob), `"source":"book"`)
	taken := r.post("/api/digest", body, "Idempotency-Key: once").status(202).object()
	id := taken.text("job")
	if taken.text("status") != "running" || taken.number("chunks") != chaptersOfJob || taken.number("done") != 0 {
		t.Errorf("taken as %v", taken)
	}
	if again := r.post("/api/digest", body, "Idempotency-Key: once").status(202).object(); again.text("job") != id {
		t.Errorf("repeated, the request has job %s", again.text("job"))
	}
	stopped := r.settled(id)
	if stopped.text("status") != "stopped" || stopped.number("done") != 7 || !strings.Contains(stopped.text("reason"), "answered 401") {
		t.Errorf("stopped as %v", stopped)
	}
	r.post("/api/digest/jobs/"+id+"/resume", `{}`).blames("model")
	m.failing(nil)
	r.post("/api/digest/jobs/"+id+"/resume", `{"model":`+s.Config("anthropic", modelKey+"-2")+`}`).status(202)
	done := r.settled(id)
	if done.text("status") != "done" || done.number("done") != chaptersOfJob || done.number("written") != chaptersOfJob || done.text("reason") != "null" {
		t.Errorf("done as %v", done)
	}
	for person, times := range m.read {
		if times != 1 {
			t.Errorf("chunk %s was read %d times", person, times)
		}
	}
	facts := r.get("/api/facts?predicate=works_at&limit=100").list()
	if len(facts) != chaptersOfJob || facts[0].text("source") != "book" {
		t.Errorf("%d facts", len(facts))
	}
	r.post("/api/digest/jobs/"+id+"/resume", `{"model":`+s.Config("openai", modelKey)+`}`).fails(409, "Conflict")
	r.get("/api/digest/jobs/none").fails(404, "NotFound")
	// Progress is told on the stream, as facts.
	history := r.get("/api/facts?predicate=chunks_done&status=all&limit=100").list()
	if len(history) != chaptersOfJob+1 {
		t.Errorf("%d steps are told", len(history))
	}
	all := r.logs.String() + r.get("/api/facts?status=all&limit=10000").Body + r.get("/api/digest/jobs/"+id).Body
	if strings.Contains(all, modelKey[:8]) {
		t.Error("the key is told")
	}
}

// TestAJobOutlivesItsNode ends the node that runs a job in the middle of a chunk:
// what was done stays done, another one goes on, and the old one writes no more.
func TestAJobOutlivesItsNode(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	m.failing(func(person string) *standin.Reply {
		if person == "3" {
			return &standin.Reply{Hang: true}
		}
		return nil
	})
	var first *ingest.Desk
	s := standin.New(t, m.reply)
	r := startWith(t, memory.Options{Models: localModels(t)}, func(c *httpd.Config) {
		first = &ingest.Desk{Memory: c.Memory, Models: localModels(t)}
		c.Desk = first
	})
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(chaptersOfJob))).status(202).object().text("job")
	for len(r.get("/api/facts?predicate=works_at").list()) < 3 {
		time.Sleep(5 * time.Millisecond)
	}
	first.Close()
	left := r.get("/api/digest/jobs/" + id).status(200).object()
	if left.text("status") != "running" || left.text("runs_here") != "false" || left.number("done") != 3 || left.number("written") != 3 {
		t.Errorf("left as %v", left)
	}
	r.post("/api/digest", digestBody(t, s, "openai", longText(chaptersOfJob))).fails(503, "Closed")
	m.failing(nil)
	other := startBeside(t, r)
	other.post("/api/digest/jobs/"+id+"/resume", `{"model":`+s.Config("openai", modelKey)+`}`).status(202)
	done := other.settled(id)
	if done.text("status") != "done" || done.number("done") != chaptersOfJob || done.number("written") != chaptersOfJob || len(r.get("/api/facts?predicate=works_at&limit=100").list()) != chaptersOfJob {
		t.Errorf("done as %v", done)
	}
}

// startBeside serves the same store by another server.
func startBeside(t *testing.T, r *rig) *rig {
	t.Helper()
	return serveNode(t, r.node, memory.Options{Models: localModels(t)}, withDesk(t))
}
