package main

import (
	"log/slog"
	"time"

	"abagraph/ingest/connect"
	"abagraph/internal/span"
	"abagraph/memory"
)

// triggerLook is how often it is looked what triggers are due.
const triggerLook = 2 * time.Second

// reportLook is how often it is looked what reports are due.
const reportLook = 5 * time.Second

// openConnectors makes what keeps the connectors: they call out through the guard,
// and their secrets are those that the operator has named.
func (n *node) openConnectors(door *memory.Service, logger *slog.Logger, tracer span.Tracer) (*connect.Service, error) {
	return connect.New(connect.Options{Memory: door, Guard: n.guard, Secret: door.Secret, Logger: logger, Tracer: tracer})
}
