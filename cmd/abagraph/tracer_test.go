package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"abagraph/internal/otlp/collector"
)

// TestTracesOfACluster: a write to a follower is one trace over both nodes, from the
// route to the state machine, below the span that the caller sent; what was said, by
// whom and with which key is nowhere in it. Without an endpoint nothing is sent.
func TestTracesOfACluster(t *testing.T) {
	c := collector.Start(t)
	dir := t.TempDir()
	args := func(name string, more ...string) []string {
		return append([]string{"--bind", "127.0.0.1:0", "--peer-bind", "127.0.0.1:0", "--node-id", name, "--data", filepath.Join(dir, name), "--admin-key", "canary-admin-key", "--otlp-endpoint", c.URL, "--alert-interval-secs", "1", "--ttl-interval-secs", "1"}, more...)
	}
	first := launch(t, args("one")...).up()
	second := launch(t, args("two", "--join", first.peers)...).up()
	send := func(p *process, method, path, body, trace string) string {
		t.Helper()
		q, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer canary-admin-key")
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s %v", method, path, r.StatusCode, text, err)
		}
		return string(text)
	}
	const write, read = "4bf92f3577b34da6a3ce929d0e0e4701", "4bf92f3577b34da6a3ce929d0e0e4702"
	send(second, "POST", "/api/facts?tenant=canarytenant", `{"subject":"Canary:subject","predicate":"canary_predicate","object":"canary-object"}`, write)
	send(second, "GET", "/api/entities/Canary:subject?tenant=canarytenant", "", read)
	got := c.Of(t, write, 7)
	for name, above := range map[string]string{
		"POST /api/facts": "", "memory.write": "POST /api/facts", "peer.forward": "memory.write", "peer.write": "peer.forward",
		"log.wait": "peer.write", "log.commit": "peer.write", "store.apply": "peer.write",
	} {
		s, parent := got[name], "00f067aa0ba902b7"
		if above != "" {
			parent = got[above].ID
		}
		node := "two"
		if above == "peer.forward" || above == "peer.write" {
			node = "one"
		}
		if s.Parent != parent || s.Node != node || s.ID == "" {
			t.Errorf("%s came as %+v, want below %q of node %s", name, s, above, node)
		}
	}
	if a := got["POST /api/facts"].Attributes; a["http.route"] != "/api/facts" || a["http.request.method"] != "POST" || a["http.response.status_code"] != "201" {
		t.Errorf("the request has %v", a)
	}
	if got["log.commit"].Attributes["abagraph.group_size"] != "1" {
		t.Errorf("the commit has %v", got["log.commit"].Attributes)
	}
	seen := c.Of(t, read, 3)
	if seen["memory.read"].Parent != seen["GET /api/entities/*"].ID || seen["read.basis"].Parent != seen["memory.read"].ID {
		t.Errorf("the read is %v", seen)
	}
	// What the node does by itself is a trace of its own.
	send(first, "POST", "/api/alerts?tenant=canarytenant", `{"name":"canary-alert","kind":"freshness","threshold":60}`, read)
	send(first, "POST", "/api/facts?tenant=canarytenant", fmt.Sprintf(`{"subject":"Canary:gone","predicate":"p","object":"canary","transient":true,"valid_until":%d}`, time.Now().Add(time.Second).UnixMilli()), read)
	for root, below := range map[string]string{"work alerts": "memory.read", "work sweep": ""} {
		one := c.Named(t, root)
		if one[root].Parent != "" || one[root].Failed || below != "" && one[below].Parent != one[root].ID {
			t.Errorf("%s is %v", root, one)
		}
	}
	second.stop()
	first.stop()
	if text := strings.ToLower(c.Text()); strings.Contains(text, "canary") || strings.Contains(text, "/api/health") {
		t.Error("a span tells what was said, by whom, or with which key")
	}
}
