package http_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/internal/signup"
)

// TestSignup: F-646, anyone may ask for a key; it is noted for the operator, and in no
// tenant.
func TestSignup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signups.jsonl")
	book, err := signup.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "root-key", func(c *httpd.Config) { c.Signups = book })
	anyone := r.as("")
	tenant := r.as(r.post("/api/tenants", `{"id":"acme","role":"admin"}`).object().text("key"))
	before := r.get("/api/stats").object().text("tx")
	for range 2 {
		if got := anyone.post("/api/signup", `{"email":"ada@example.test","name":"Ada","message":"hello"}`).status(http.StatusAccepted).Body; got != `{"ok":true}` {
			t.Errorf("signup: %s", got)
		}
	}
	for body, field := range map[string]string{
		`{}`: "email", `{"email":"ada"}`: "email", `{"email":"Ada <ada@example.test>"}`: "email", `{"email":"a@b.test\n"}`: "email", `{"email":1}`: "email",
		`{"email":"b@example.test","plan":"pro"}`: "plan", `{"email":"b@example.test","name":"` + strings.Repeat("x", 257) + `"}`: "name",
	} {
		if e := anyone.post("/api/signup", body).fails(http.StatusBadRequest, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%s: %v", body, e)
		}
	}
	anyone.post("/api/signup", `{"email":"b@example.test","message":"`+strings.Repeat("x", 17<<10)+`"}`).fails(http.StatusRequestEntityTooLarge, "TooLarge")
	anyone.post("/api/signup", `{"email":"b@example.test"}`, "Origin: https://evil.example.test").fails(http.StatusForbidden, "Forbidden")
	anyone.get("/api/signup").fails(http.StatusNotFound, "NotFound")
	tenant.get("/api/signup").fails(http.StatusForbidden, "Forbidden")
	if got := r.get("/api/signup").status(http.StatusOK); !strings.HasPrefix(got.Body, `{"signups":[{"email":"ada@example.test","name":"Ada","company":null,"message":"hello","at":`) || strings.Count(got.Body, "email") != 1 {
		t.Errorf("the list: %s", got.Body)
	}
	if after := r.get("/api/stats").object().text("tx"); after != before || strings.Contains(r.logs.String(), "ada@") {
		t.Errorf("written elsewhere: tx %s, then %s", before, after)
	}
	r.delete("/api/signup").fails(http.StatusBadRequest, "SchemaInvalid")
	r.delete("/api/signup?email=bob@example.test").fails(http.StatusNotFound, "NotFound")
	r.delete("/api/signup?email=ada@example.test").status(http.StatusOK)
	if got := r.get("/api/signup").Body; got != `{"signups":[]}` {
		t.Errorf("after the deletion: %s", got)
	}
	many := 0
	for range 100 {
		if anyone.post("/api/signup", `{"email":"c@example.test"}`).Status == http.StatusTooManyRequests {
			many++
		}
	}
	if many == 0 {
		t.Error("a flood is let in")
	}
	start(t, "root-key").as("").post("/api/signup", `{"email":"a@example.test"}`).fails(http.StatusNotFound, "NotFound")
}
