package http_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/ingest"
	"abagraph/internal/models"
	"abagraph/internal/models/standin"
	"abagraph/internal/outbound"
	"abagraph/memory"
)

// TestWhateverModelIsAsked digests a text and asks about it, by a stand-in in both wire
// formats and by the real endpoint that ABAGRAPH_TEST_MODEL names: what holds must
// hold whatever a model says.
func TestWhateverModelIsAsked(t *testing.T) {
	s := standin.New(t, func(c standin.Call) standin.Reply {
		switch c.Name {
		case "answer":
			return standin.Reply{JSON: `{"answer":"At Acme.","confidence":0.9,"used":[1]}`}
		case "summary":
			return standin.Reply{JSON: `{"summary":"Sarah Lee works at Acme."}`}
		}
		return hrReader().reply(c)
	})
	for _, e := range standin.Endpoints(t, s, modelKey) {
		t.Run(e.Name, func(t *testing.T) {
			allow := []string{"127.0.0.1"}
			if u, err := url.Parse(e.Endpoint); err == nil && u.Host != "" {
				allow = append(allow, u.Host)
			}
			guard, err := outbound.New(outbound.Options{Allow: allow})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(guard.Close)
			client := models.New(models.Options{Guard: guard, Time: time.Minute})
			r := startWith(t, memory.Options{Models: client}, func(c *httpd.Config) {
				c.Desk = &ingest.Desk{Memory: c.Memory, Models: client, Guard: guard}
				t.Cleanup(c.Desk.Close)
			})
			model := fmt.Sprintf(`"model":{"provider":%q,"model":%q,"key":%q`, e.Provider, e.Model, e.Key)
			if e.Endpoint != "" {
				model += fmt.Sprintf(`,"endpoint":%q`, e.Endpoint)
			}
			model += "}"
			digestHolds(t, r, r.post("/api/digest", `{"source":"hr","date":"2024-02-01","content":`+quoted(hrText)+`,`+model+`}`).status(200).object())
			got := r.post("/api/ask", `{"question":"Where does Sarah Lee work?",`+model+`}`).status(200).object()
			if got.text("answer") == "" || len(got["evidence"].([]any)) == 0 {
				t.Errorf("asked: %v", got)
			}
			if e.Real && !strings.Contains(strings.ToLower(got.text("answer")), "acme") {
				t.Errorf("asked: %v", got)
			}
			if all := r.logs.String() + r.get("/api/facts?status=all").Body + r.get("/api/audit").Body; strings.Contains(all, e.Key[:8]) {
				t.Error("the key is told")
			}
		})
	}
}

// digestHolds checks what a digest of hrText must be, whoever has read it.
func digestHolds(t *testing.T, r *rig, d doc) {
	t.Helper()
	items := d["items"].([]any)
	if sum := d.number("written") + d.number("candidates") + d.number("duplicates") + d.number("refused"); sum != len(items) || d.number("written") == 0 {
		t.Errorf("%d items, in all %d: %v", len(items), sum, d)
	}
	text := strings.ToLower(strings.Join(strings.Fields(hrText), " "))
	text += "\n" + strings.ReplaceAll(text, "[[project:atlas|atlas]]", "atlas") // as it reads
	for _, one := range items {
		i := doc(one.(map[string]any))
		quote := strings.ToLower(strings.Join(strings.Fields(i.text("quote")), " "))
		if i.text("outcome") == "written" && i.number("chunk") > 0 && !strings.Contains(text, quote) {
			t.Errorf("written without support: %v", i)
		}
		if i.text("outcome") != "written" && i.text("outcome") != "duplicate" && i["reason"] == nil {
			t.Errorf("no reason is given: %v", i)
		}
	}
	if text := r.get("/api/blobs/" + r.kept()).status(200).object(); text.text("text") != hrText {
		t.Errorf("kept is %v", text)
	}
}
