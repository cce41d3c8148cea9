package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/internal/embed"
	"abagraph/internal/outbound"
	"abagraph/memory"
)

// localGuard lets calls through to this machine.
func localGuard(t *testing.T) *outbound.Guard {
	t.Helper()
	g, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// withProvider serves with an endpoint that speaks the embeddings protocol, and is given
// up after a limit: a short one is for endpoints that never answer.
func withProvider(t *testing.T, admin, key string, limit time.Duration, answer http.HandlerFunc) *rig {
	t.Helper()
	fake := httptest.NewServer(answer)
	t.Cleanup(fake.Close)
	var asked atomic.Int64
	provider, err := embed.New(embed.Options{
		Provider: embed.HTTP, Key: key, BaseURL: fake.URL + "/v1", Model: "fake", Dim: 3, Guard: localGuard(t), Jitter: func() float64 { return 0 },
		Now: func() time.Time { return time.Unix(3600*asked.Add(1), 0) }, // no pause is longer
	})
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, memory.Options{AdminKey: admin, Embedder: provider, EmbedTimeout: limit, Embedding: "http"})
}

func oneVector(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, `{"data":[{"index":0,"embedding":[1,2,2]}]}`)
}

func TestEmbeddingsOfATenant(t *testing.T) {
	r := withProvider(t, "root-key", "k", time.Minute, oneVector)
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	a.assert("Person:p", "likes", `"tea"`)
	got := a.get("/api/embeddings").status(http.StatusOK).object()
	for field, want := range map[string]any{"provider": "http", "enabled": true, "model": "fake", "dim": 3, "facts": 1, "embedded": 1, "missing": 0} {
		if fmt.Sprint(got[field]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, not %v", field, got[field], want)
		}
	}
	if n := b.get("/api/embeddings").object()["facts"]; fmt.Sprint(n) != "0" {
		t.Errorf("another tenant sees %v facts", n)
	}
	if n := r.get("/api/embeddings?tenant=a").object()["facts"]; fmt.Sprint(n) != "1" {
		t.Errorf("the administrator sees %v facts of the tenant", n)
	}
	if job := got["job"].(map[string]any); job["leads"] != true || job["last_error"] != nil || job["embedded"] != nil || job["unusable"] != nil {
		t.Errorf("a tenant is told of the job that it is %v", job)
	}
	if job := r.get("/api/embeddings?tenant=a").object()["job"].(map[string]any); fmt.Sprint(job["embedded"]) != "0" || fmt.Sprint(job["unusable"]) != "0" {
		t.Errorf("the administrator is told of the job that it is %v", job)
	}
	a.post("/api/embeddings", "").status(http.StatusForbidden)
	if job := r.post("/api/embeddings", "").status(http.StatusOK).object()["job"].(map[string]any); job["running"] != true {
		t.Errorf("after it was asked to run the job is %v", job)
	}
	r.post("/api/embeddings", "{}").status(http.StatusBadRequest)
	r.get("/api/embeddings?as_of=1").status(http.StatusBadRequest)
	if body := a.get("/api/facts").Body; strings.Contains(body, "0.6666") || strings.Contains(body, "vector") {
		t.Errorf("a list of facts tells of vectors: %s", body)
	}
}

func TestEmbeddingsWithoutAProvider(t *testing.T) {
	r := startWith(t, memory.Options{Embedding: "words"})
	if body := r.get("/api/embeddings").status(http.StatusOK).Body; body != `{"provider":"words","enabled":false,"model":null,"dim":null,"facts":null,"embedded":null,"missing":null,"job":null}` {
		t.Errorf("the answer is %s", body)
	}
	if e := r.post("/api/embeddings", "").status(http.StatusConflict).Body; !strings.Contains(e, "ABAGRAPH_EMBEDDING") {
		t.Errorf("the error is %s", e)
	}
}

// TestOBS01ProviderKeyStaysSecret is OBS-01 for the key of the embedding endpoint:
// whatever the endpoint answers, echoing it among others, the key shows nowhere.
func TestOBS01ProviderKeyStaysSecret(t *testing.T) {
	const key = "sk-marked-0123456789"
	var fault atomic.Int64
	answer := func(w http.ResponseWriter, q *http.Request) {
		echo := "bad key " + q.Header.Get("Authorization")
		switch n := fault.Load(); n {
		case 0:
			oneVector(w, q)
		case 1:
			_, _ = io.Copy(io.Discard, q.Body) // or the end of the connection is not seen
			<-q.Context().Done()
		case 2:
			w.Header().Set("Location", "/"+echo)
			w.WriteHeader(http.StatusFound)
		case 3:
			io.WriteString(w, `{"error":"`+echo+`"}`)
		default:
			w.WriteHeader(int(n))
			io.WriteString(w, echo)
		}
	}
	patient, hasty := withProvider(t, "", key, time.Minute, answer), withProvider(t, "", key, 300*time.Millisecond, answer)
	var seen strings.Builder
	for i, n := range []int64{0, 1, 2, 3, 400, 401, 429, 500} {
		fault.Store(n)
		r := patient
		if n == 1 { // the one that never answers
			r = hasty
		}
		answer := r.post("/api/facts?explain=1", fmt.Sprintf(`{"subject":"Person:p%d","predicate":"likes","object":"tea"}`, i)).status(http.StatusCreated)
		if warned := strings.Contains(answer.Body, "without a vector, because the embedding provider"); warned != (n != 0) {
			t.Errorf("fault %d is answered %s", n, answer.Body)
		}
		for _, path := range []string{"/api/embeddings", "/api/facts", "/metrics", "/api/observability", "/api/stats?explain=1"} {
			seen.WriteString(r.get(path).Body)
		}
		seen.WriteString(answer.Body + fmt.Sprint(answer.Header))
	}
	if n := len(patient.get("/api/facts").list()) + len(hasty.get("/api/facts").list()); n != 8 {
		t.Errorf("%d of 8 facts were stored", n)
	}
	for name, text := range map[string]string{"logs": patient.logs.String() + hasty.logs.String(), "answers": seen.String()} {
		if strings.Contains(text, key[:8]) {
			t.Errorf("the key is in the %s", name)
		}
	}
}

// TestPacketsOfAFailingProviderAreTheSame: what a packet says of a provider that is
// down does not go by the clock, and is said once.
func TestPacketsOfAFailingProviderAreTheSame(t *testing.T) {
	fake := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(fake.Close)
	var millis atomic.Int64
	provider, err := embed.New(embed.Options{
		Provider: embed.HTTP, Key: "k", BaseURL: fake.URL + "/v1", Model: "fake", Dim: 3, Guard: localGuard(t), Jitter: func() float64 { return 0 },
		Now: func() time.Time { return time.UnixMilli(millis.Add(7)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := startWith(t, memory.Options{Embedder: provider, EmbedTimeout: time.Minute, Embedding: "http"})
	r.assert("Person:p", "likes", `"tea"`)
	const ask = "/api/context?goal=who+likes+tea"
	first := r.get(ask).status(http.StatusOK).object()
	for range 5 {
		again := r.get(ask).status(http.StatusOK).object()
		if fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("other bytes: %v, and before %v", again, first)
		}
	}
	if warnings := first["warnings"].([]any); len(warnings) != 1 || !strings.Contains(fmt.Sprint(warnings), "the embedding provider has failed") {
		t.Errorf("warnings %v", warnings)
	}
}

// A vector in place of a question is a question, however it is written; where it is
// passed over, that is told.
func TestAVectorIsAQuestion(t *testing.T) {
	r := withProvider(t, "", "k", 5*time.Second, oneVector)
	r.assert("Person:alice", "works_at", `"Company:beta"`)
	for body, want := range map[string]string{
		`{"query_vector":[1,2,2]}`:                                     "",
		`{"query_vector":"1,2,2","question":" "}`:                      "",
		`{"query_vector":[1,2,2],"question":"alice"}`:                  "",
		`{"query_vector":[1,2,2],"question":"alice","mode":"lexical"}`: "query_vector was not used: a lexical search goes by words alone",
		`{"query_vector":[1,2,2],"mode":"lexical"}`:                    "the question is empty: nothing can be found by it, query_vector was not used: a lexical search goes by words alone",
		`{"mode":"vector"}`:                                            "the question is empty: nothing can be found by it",
	} {
		got := r.post("/api/search", body).status(http.StatusOK).object()
		var told []string
		list, _ := got["warnings"].([]any)
		for _, w := range list {
			told = append(told, fmt.Sprint(w))
		}
		if strings.Join(told, ", ") != want {
			t.Errorf("%s: %q, want %q", body, told, want)
		}
		if found := len(got["answer_facts"].([]any)); found != 1 && !strings.Contains(want, "empty") {
			t.Errorf("%s: %d hits", body, found)
		}
	}
}
