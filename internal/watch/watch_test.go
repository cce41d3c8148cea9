package watch_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/internal/jsonx"
	"abagraph/internal/onenode"
	"abagraph/internal/outbound"
	"abagraph/internal/watch"
	"abagraph/memory"
)

// hook is a webhook that notes what it is told, and answers as it is set to.
type hook struct {
	mu     sync.Mutex
	status int
	got    []string
	signed []string
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got, h.signed = append(h.got, string(body)), append(h.signed, r.Header.Get(watch.SignatureHeader))
	w.WriteHeader(h.status)
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

func (h *hook) told() ([]string, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.got...), append([]string(nil), h.signed...)
}

// TestWebhooksAreToldUntilTheyTakeIt: each new state once, signed, again and again
// where it is not taken, and never to an address inside that nobody opened.
func TestWebhooksAreToldUntilTheyTakeIt(t *testing.T) {
	t.Setenv("AN_ALERT_KEY", "canary-key")
	h := &hook{status: http.StatusInternalServerError}
	site := httptest.NewServer(h)
	defer site.Close()
	node := onenode.Start(t)
	door := node.Service(t, memory.Options{AdminKey: "secret-admin-key"})
	operator, err := door.Resolve(t.Context(), "secret-admin-key")
	if err != nil {
		t.Fatal(err)
	}
	acme, err := operator.In("acme")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := door.SetSecret(t.Context(), acme, memory.WriteOptions{}, "key", "env:AN_ALERT_KEY", nil); err != nil {
		t.Fatal(err)
	}
	v, err := jsonx.Parse([]byte(`{"name":"fresh","kind":"freshness","threshold":60,"webhook":"` + site.URL + `/x","secret":"key"}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := memory.ParseAlert(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := door.SetAlert(t.Context(), acme, memory.WriteOptions{}, a, nil); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	round := func(allow ...string) {
		t.Helper()
		guard, err := outbound.New(outbound.Options{Allow: allow})
		if err != nil {
			t.Fatal(err)
		}
		defer guard.Close()
		w := watch.Start(watch.Options{Memory: door, Guard: guard, Leads: func() bool { return false }, Every: time.Hour, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		w.Round(t.Context())
		w.Stop()
	}
	round()
	if got, _ := h.told(); len(got) != 0 || !strings.Contains(lines.String(), "abagraph.alert.webhook_err") {
		t.Fatalf("a closed address was told: %v, %s", got, lines.String())
	}
	round("127.0.0.1")
	round("127.0.0.1")
	if got, _ := h.told(); len(got) != 2 || got[0] != got[1] {
		t.Fatalf("what is not taken is told again: %v", got)
	}
	h.answer(http.StatusNoContent)
	round("127.0.0.1")
	round("127.0.0.1")
	got, signed := h.told()
	if len(got) != 3 || signed[2] != watch.Sign("canary-key", []byte(got[2])) {
		t.Fatalf("what was taken is told no more: %v, signed %v", got, signed)
	}
	var message map[string]any
	if err := json.Unmarshal([]byte(got[2]), &message); err != nil || message["alert"] != "fresh" || message["tenant"] != "acme" || message["state"] != "firing" || message["value"] != nil {
		t.Errorf("the message is %v, %v", message, err)
	}
	if strings.Contains(lines.String(), "canary") || strings.Contains(lines.String(), site.URL) {
		t.Errorf("a log line tells the key or the address: %s", lines.String())
	}
}

// TestOneTenantHoldsUpNoOther: webhooks that fail are told again each round, and leave
// those of others theirs, which are told once.
func TestOneTenantHoldsUpNoOther(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		told[r.URL.Path]++
		mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/down") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer site.Close()
	node := onenode.Start(t)
	door := node.Service(t, memory.Options{})
	operator, err := door.Resolve(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	set := func(tenant, name, path string) {
		t.Helper()
		c, err := operator.In(tenant)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonx.Parse([]byte(`{"name":"` + name + `","kind":"freshness","threshold":60,"webhook":"` + site.URL + path + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := memory.ParseAlert(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := door.SetAlert(t.Context(), c, memory.WriteOptions{}, a, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"a", "b", "c"} {
		set("ta", n, "/down/"+n)
		set("tb", n, "/up/"+n)
	}
	guard, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	w := watch.Start(watch.Options{Memory: door, Guard: guard, Leads: func() bool { return false }, Every: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	defer w.Stop()
	w.Round(t.Context())
	w.Round(t.Context())
	mu.Lock()
	defer mu.Unlock()
	for _, n := range []string{"a", "b", "c"} {
		if told["/up/"+n] != 1 || told["/down/"+n] != 2 {
			t.Errorf("%s: %v", n, told)
		}
	}
}
