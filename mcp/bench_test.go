package mcp_test

import (
	"context"
	"log/slog"
	"testing"

	"abagraph/internal/onenode"
	"abagraph/mcp"
	"abagraph/memory"
)

// BenchmarkCall is one call of a tool, without a network.
func BenchmarkCall(b *testing.B) {
	node := onenode.Start(b)
	service := node.Service(b, memory.Options{})
	server, err := mcp.NewServer(mcp.Options{Memory: service, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		b.Fatal(err)
	}
	caller, err := service.Resolve(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	link := server.Local(caller)
	call := func(message string) {
		answers := 0
		err := link(context.Background(), []byte(message), nil, func([]byte) error { answers++; return nil })
		if err != nil || answers != 1 {
			b.Fatalf("%d answers, %v", answers, err)
		}
	}
	call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"a","subject":"A:b","predicate":"p","object":1}}}`)
	for name, message := range map[string]string{
		"ping":   `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"list":   `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"recall": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"a","mode":"pattern","subject":"A:b"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(message)
			}
		})
	}
}
