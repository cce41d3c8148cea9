package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"abagraph/ingest"
	"abagraph/mcp"
)

// aloneWait is how long a node of one has to become its own leader. One that
// belongs to a cluster never will.
const aloneWait = 15 * time.Second

// openAlone wires a node for one host on this machine: no port, no keys, no
// other nodes.
func openAlone(ctx context.Context, s settings, logger *slog.Logger, die func(line string)) (_ *node, _ mcp.Link, err error) {
	for _, name := range []string{"admin_key", "join", "peer_bind", "peer_advertise", "cluster_secret", "peer_tls_cert", "peer_tls_key", "peer_tls_ca"} {
		s[name] = resolved{}
	}
	n := &node{die: die}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(s.seconds("shutdown_secs")))
		}
	}()
	door, err := n.openMemory(s, logger)
	if err != nil {
		return nil, nil, err
	}
	n.door, n.desk = door, &ingest.Desk{Memory: door, Models: n.models, PDF: pdfReader().PDF, Logger: logger}
	server, err := mcpServer(s, door, n.desk, logger)
	if err != nil {
		return nil, nil, err
	}
	if err := n.openData(s, logger); err != nil {
		return nil, nil, err
	}
	if err := n.startRaft(s, logger, prometheus.NewRegistry()); err != nil {
		return nil, nil, err
	}
	ready, cancel := context.WithTimeout(ctx, aloneWait)
	defer cancel()
	if err := n.raft.WaitReady(ready); err != nil {
		return nil, nil, fmt.Errorf("the node on %s cannot answer alone; is it one of a cluster? %w", s.get("data"), err)
	}
	n.keeper.start(door)
	caller, err := door.Resolve(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	return n, server.Local(caller), nil
}
