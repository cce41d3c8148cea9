package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"
)

// TestMCPSendsAgainUnderOneKey: a message whose answer was lost, or that met no
// leader, is sent again as it was, so that it writes once; what came back is
// handed on, and a refusal is an error with its code.
func TestMCPSendsAgainUnderOneKey(t *testing.T) {
	var sent []string
	answers := []func(w http.ResponseWriter){
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":{"code":"NoLeader","message":"there is none"}}`)
		},
		func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		},
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`)
		},
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"NotFound","message":"not found"}}`)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.String() != "/mcp" || r.Header.Get("Authorization") != "Bearer key" || r.Header.Get("Mcp-Protocol-Version") != "2025-06-18" {
			t.Errorf("sent to %s with %v", r.URL, r.Header)
		}
		sent = append(sent, r.Header.Get("Idempotency-Key")+" "+string(body))
		answers[len(sent)-1](w)
	}))
	defer server.Close()
	c := dial(t, server.URL, client.WithKey("key"), client.WithTenant("acme"), client.WithRetry(5, time.Millisecond))
	message := func(body string) (came []string, err error) {
		err = c.MCP(t.Context(), client.MCPMessage{Body: []byte(body), Header: map[string]string{"Mcp-Protocol-Version": "2025-06-18"}}, func(m []byte) error {
			came = append(came, string(m))
			return nil
		})
		return came, err
	}
	if came, err := message("one"); err != nil || len(came) != 2 || !strings.Contains(came[1], `"id":1`) {
		t.Errorf("%q, %v", came, err)
	}
	if len(sent) != 3 || sent[0] != sent[1] || sent[1] != sent[2] || !strings.HasSuffix(sent[0], " one") || strings.HasPrefix(sent[0], " ") {
		t.Errorf("sent %q", sent)
	}
	if came, err := message("two"); err != nil || len(came) != 1 || !strings.Contains(came[0], "-32700") {
		t.Errorf("a JSON-RPC error: %q, %v", came, err)
	}
	if came, err := message("three"); err != nil || len(came) != 0 {
		t.Errorf("nothing: %q, %v", came, err)
	}
	if _, err := message("four"); client.CodeOf(err) != fact.NotFound {
		t.Errorf("a refusal: %v", err)
	}
	stop := errors.New("enough")
	answers = append(answers, answers[2])
	err := c.MCP(t.Context(), client.MCPMessage{Body: []byte("five"), Header: map[string]string{"Mcp-Protocol-Version": "2025-06-18"}}, func([]byte) error { return stop })
	if !errors.Is(err, stop) || len(sent) != 7 {
		t.Errorf("stopped: %v, %d sent", err, len(sent))
	}
}
