package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"abagraph/internal/embed"
	"abagraph/internal/outbound"
	"abagraph/internal/words"
	"abagraph/memory"
)

// openEmbedder makes the provider of vectors that the settings name; nil where
// none makes any. An endpoint without a key leaves embeddings off, with a line
// that says so (F-228).
func openEmbedder(s settings, guard *outbound.Guard, logger *slog.Logger) (memory.Embedder, error) {
	provider, err := embed.New(embed.Options{
		Provider: s.get("embedding"), Key: s.get("embedding_api_key"), BaseURL: s.get("embedding_base_url"),
		Model: s.get("embedding_model"), Dim: int(s.number("embedding_dim")), Guard: guard,
		Told: func(err error) {
			if err == nil {
				logger.Info("abagraph.embedding.works")
				return
			}
			logger.Warn("abagraph.embedding.failed", "error", err.Error())
		},
	})
	switch {
	case errors.Is(err, embed.ErrNoKey):
		logger.Warn("abagraph.embedding.disabled", "reason", err.Error())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("set up the embedding provider: %w", err)
	case provider == nil:
		return nil, nil
	}
	return provider, nil
}

// openWords loads the built-in word table where the settings ask for it.
func openWords(s settings) (*words.Table, error) {
	if s.get("embedding") != embed.Words {
		return nil, nil
	}
	return words.Load()
}

func (s settings) milliseconds(name string) time.Duration {
	return time.Duration(s.number(name)) * time.Millisecond
}

// keeper is the goroutine that embeds what has no vector.
type keeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (k *keeper) start(door *memory.Service) {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel, k.done = cancel, make(chan struct{})
	go func() {
		defer close(k.done)
		door.KeepEmbedded(ctx)
	}()
}

func (k *keeper) stop() {
	if k.cancel != nil {
		k.cancel()
		<-k.done
	}
}
