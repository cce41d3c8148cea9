package memory_test

import (
	"context"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// TestStoreThatHangsHoldsNobody: a view waits for what was answered, and that never comes
// while the disk hangs. Whoever asks is told so in time, the metrics above all.
func TestStoreThatHangsHoldsNobody(t *testing.T) {
	hangs := func(ctx context.Context) (memory.View, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s, err := memory.New(memory.Options{Engine: onenode.Start(t), View: hangs, AdminKey: "admin", Timeout: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	read := memory.NewRead()
	read.Level = fact.Stale
	for what, ask := range map[string]func(context.Context) error{
		"the figures of the store": func(ctx context.Context) error { _, err := s.StoreStats(ctx); return err },
		"a key":                    func(ctx context.Context) error { _, err := s.Resolve(ctx, "aba_key"); return err },
		"a read": func(ctx context.Context) error {
			_, _, err := s.Stats(ctx, memory.Caller{Operator: true}, read, nil)
			return err
		},
	} {
		if err := ask(t.Context()); fact.CodeOf(err) != fact.Timeout {
			t.Errorf("%s: %v", what, err)
		}
	}
}
