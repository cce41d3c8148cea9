package mcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/mcp"
	"abagraph/memory"
)

// MCP-03: a panic in a handler is an error of that one call. The process goes
// on, the operator is told where it was, and the caller nothing of it.
func TestMCP03APanicIsAnError(t *testing.T) {
	node := onenode.Start(t)
	service, err := memory.New(memory.Options{Engine: node, View: func(context.Context) (memory.View, error) { panic("a secret value") }, Leads: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&told, nil))
	r := serve(t, node, service, mcp.Options{Memory: service, Logger: logger, Version: "test"}, "")
	for range 2 {
		a := r.tool("recall_as_of", `{"namespace":"acme","as_of":5}`)
		a.fails(fact.Io)
		if a.text != "Io: internal error" {
			t.Errorf("the caller is told %s", a.text)
		}
	}
	status, got := r.post(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"abagraph://acme/entity/A:b"}}`)
	if e, _ := got["error"].(doc); status != 200 || encoded(got["id"]) != "7" || encoded(e["data"]) != `{"code":"Io"}` {
		t.Errorf("a resource: %d %v", status, got)
	}
	if said := told.String(); strings.Contains(said, "a secret value") || !strings.Contains(said, `"msg":"abagraph.mcp.panic"`) || !strings.Contains(said, "panic_test.go") {
		t.Errorf("the operator is told %s", said)
	}
}
