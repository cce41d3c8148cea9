package http_test

import (
	"fmt"
	"strings"
	"testing"

	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/internal/models/standin"
	"abagraph/memory"
)

// forge writes the facts of a job by hand.
func (r *rig) forge(id, hash, chunks, done string) {
	r.t.Helper()
	plan := fmt.Sprintf(`{"document":"Document:x","hash":%q,"kind":"text/markdown","chunks":%s,"title":"","subject":"","source":"hand","threshold":0.75,"pii_masked":0}`, hash, chunks)
	r.post("/api/transact", fmt.Sprintf(`{"asserts":[{"subject":%q,"predicate":"digest_status","object":"running","source":"hand","properties":%s},
		{"subject":%q,"predicate":"chunks_done","object":%s,"source":"hand"},{"subject":%q,"predicate":"digest_run","object":1,"source":"hand"}]}`, id, plan, id, done, id)).status(200)
}

// TestJobsWrittenByHand: facts of a job are facts like all others, and none of what
// they say is believed; what cannot be gone on with is told.
func TestJobsWrittenByHand(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	r, s := withModel(t, memory.Options{}, m.reply)
	model := `{"model":` + s.Config("openai", modelKey) + `}`
	r.post("/api/digest", digestBody(t, s, "openai", longText(2))).status(200)
	hash := r.kept()
	for i, bad := range [][3]string{{hash, "2", "-5"}, {hash, "2", "9"}, {hash, "7", "0"}, {hash, "-1", "-1"}} {
		id := fmt.Sprintf("Job:forged-%d", i)
		r.forge(id, bad[0], bad[1], bad[2])
		r.post("/api/digest/jobs/"+id+"/resume", model).fails(409, "Conflict")
	}
	r.forge("Job:none", strings.Repeat("0", 64), "2", "0")
	r.post("/api/digest/jobs/none/resume", model).fails(404, "NotFound")
	r.forge("Job:odd", hash, `"x"`, "0")
	r.post("/api/digest/jobs/odd/resume", model).fails(409, "Conflict")
	// A node that was ended between a job's last chunk and its end leaves it like this.
	r.forge("Job:last", hash, "2", "2")
	r.post("/api/digest/jobs/last/resume", model).status(202)
	if done := r.settled("last"); done.text("status") != "done" || done.number("done") != 2 {
		t.Errorf("done as %v", done)
	}
	// Somebody who changes a job's steps under its hands stops it, and it says so.
	m.failing(func(person string) *standin.Reply {
		if person == "3" {
			r.post("/api/facts", `{"subject":"`+r.get("/api/facts?predicate=digest_run&object=1").list()[0].text("subject")+`","predicate":"chunks_done","object":99,"source":"hand"}`)
		}
		return nil
	})
	r.post("/api/facts", `{"subject":"Job:last","predicate":"digest_run","object":77,"source":"hand"}`).status(201)
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(chaptersOfJob), `"source":"hand"`)).status(202).object().text("job")
	if got := r.settled(id); got.text("status") != "stopped" || !strings.Contains(got.text("reason"), "changed by hand") {
		t.Errorf("changed: %v", got)
	}
}

// TestAJobIsStopped in the middle of a chunk that hangs: at once, for good, and to be
// gone on with; why statements were refused is told with the step.
func TestAJobIsStopped(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	hanging := make(chan struct{}, 8)
	m.failing(func(person string) *standin.Reply {
		if person == "2" {
			hanging <- struct{}{}
			return &standin.Reply{Hang: true}
		}
		return nil
	})
	r, s := withModel(t, memory.Options{}, func(c standin.Call) standin.Reply {
		got := m.reply(c)
		if c.Name == "facts" && got.JSON != "" {
			got.JSON = strings.Replace(got.JSON, `{"facts":[`, `{"facts":[`+found("Job:x", "chunks_done", "1", "works at Acme")+",", 1)
		}
		return got
	})
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(chaptersOfJob))).status(202).object().text("job")
	<-hanging
	r.post("/api/digest/jobs/"+id+"/stop", `{"x":1}`).status(400)
	stopped := r.post("/api/digest/jobs/"+id+"/stop", "").status(200).object()
	if stopped.text("status") != "stopped" || stopped.number("done") != 2 || stopped.number("written") != 2 || stopped.number("refused") != 2 || stopped.text("runs_here") != "false" {
		t.Errorf("stopped as %v", stopped)
	}
	if again := r.post("/api/digest/jobs/"+id+"/stop", "").status(200).object(); again.text("reason") != stopped.text("reason") {
		t.Errorf("again: %v", again)
	}
	r.post("/api/digest/jobs/none/stop", "").fails(404, "NotFound")
	if told := r.get("/api/facts?predicate=chunks_done&status=all").Body; !strings.Contains(told, `"refusals":[{"subject":"Job:x"`) {
		t.Errorf("no step tells what was refused: %s", told)
	}
	m.failing(nil)
	r.post("/api/digest/jobs/"+id+"/resume", `{"model":`+s.Config("openai", modelKey)+`}`).status(202)
	if done := r.settled(id); done.text("status") != "done" || done.number("written") != chaptersOfJob || done.number("refused") != chaptersOfJob {
		t.Errorf("done as %v", done)
	}
}

// TestAJobWhoseTextIsErased ends, and says why.
func TestAJobWhoseTextIsErased(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	r, s := withModel(t, memory.Options{}, m.reply)
	m.failing(func(person string) *standin.Reply {
		if person == "2" {
			r.post("/api/admin/purge?confirm=1&prefix=Document:", "").status(200)
		}
		return nil
	})
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(chaptersOfJob))).status(202).object().text("job")
	if got := r.settled(id); got.text("status") != "stopped" || got.number("done") != 2 || !strings.Contains(got.text("reason"), "its text is gone") {
		t.Errorf("%v", got)
	}
}

// TestAJobIsTakenOver from a node that still runs it, in the middle of a chunk: each
// chunk is written once, the older runner writes no more, and the counts are whole.
func TestAJobIsTakenOver(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	r, s := withModel(t, memory.Options{}, m.reply)
	other := startBeside(t, r)
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(60), `"source":"book"`)).status(202).object().text("job")
	model := `{"model":` + s.Config("openai", modelKey) + `}`
	nodes := []*rig{other, r}
	for n := 0; n < 6; n++ {
		got := nodes[n%2].post("/api/digest/jobs/"+id+"/resume", model)
		if got.Status != 202 && !strings.Contains(got.Body, "Conflict") {
			t.Errorf("taken over: %d %s", got.Status, got.Body)
		}
	}
	done := r.settled(id)
	if done.text("status") != "done" || done.number("done") != 60 || done.number("written") != 60 {
		t.Errorf("done as %v", done)
	}
}

// TestATextOfManyPieces is kept whole before its job is told of, and a purge of its
// document leaves no piece.
func TestATextOfManyPieces(t *testing.T) {
	s := standin.New(t, reader{facts: func(string) string { return "" }}.reply)
	r := startWith(t, memory.Options{Models: localModels(t)}, withDesk(t), func(c *httpd.Config) { c.MaxBodyBytes = 8 << 20 })
	text := strings.Repeat("Nothing happened on that day, nor on the next one. ", 56_000)
	id := r.post("/api/digest", digestBody(t, s, "openai", text, `"content_type":"text/plain"`)).status(202).object().text("job")
	r.post("/api/digest/jobs/"+id+"/stop", "").status(200)
	hash, got, pieces := r.kept(), "", 0
	for part := "0"; part != "null"; pieces++ {
		piece := r.get("/api/blobs/" + hash + "?part=" + part).status(200).object()
		if piece.number("size") != len(text) {
			t.Errorf("size %d", piece.number("size"))
		}
		got, part = got+piece.text("text"), piece.text("next")
	}
	if got != text || pieces < 6 {
		t.Errorf("%d bytes of %d in %d pieces", len(got), len(text), pieces)
	}
	r.post("/api/admin/purge?confirm=1&prefix=Document:", "").status(200)
	view, err := r.node.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	sum, _ := fact.BlobHash(hash)
	for part := range uint32(8) {
		if left, err := view.BlobPart(t.Context(), fact.Scope{Tenant: "default"}, sum, part); left != nil || err != nil {
			t.Errorf("piece %d is left: %v", part, err)
		}
	}
}

// TestAJobIsStoppedInItsStride, again and again, between any two of its steps: what is
// told of it always makes all of its chunks.
func TestAJobIsStoppedInItsStride(t *testing.T) {
	m := &chapters{read: map[string]int{}}
	r, s := withModel(t, memory.Options{}, m.reply)
	id := r.post("/api/digest", digestBody(t, s, "openai", longText(60))).status(202).object().text("job")
	for {
		j := r.post("/api/digest/jobs/"+id+"/stop", "").status(200).object()
		if j.number("done") != j.number("written") {
			t.Fatalf("stopped as %v", j)
		}
		if j.text("status") == "done" {
			break
		}
		j = r.post("/api/digest/jobs/"+id+"/resume", `{"model":`+s.Config("openai", modelKey)+`}`).object()
		if j["error"] == nil && j.number("done") != j.number("written") {
			t.Fatalf("resumed as %v", j)
		}
		for next := j.number("done") + 2; j.text("status") == "running" && j.number("done") < next; {
			if j = r.get("/api/digest/jobs/" + id).object(); j.number("done") != j.number("written") {
				t.Fatalf("running as %v", j)
			}
		}
	}
	if n := len(r.get("/api/facts?predicate=works_at&limit=100").list()); n != 60 {
		t.Errorf("%d facts", n)
	}
}
