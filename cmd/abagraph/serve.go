package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"abagraph/internal/events"
)

func serveCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a node: alone, or as one of a cluster",
		Long: `Runs a node with embedded storage. Settings come from flags, the environment and
a configuration file, in this order; abagraph config shows them all.

Without --admin-key there is no auth: whoever reaches the port is administrator,
so the node then listens on loopback only.

A cluster begins with one node that has a peer port; others join it by that:

  abagraph serve --peer-bind 127.0.0.1:9080
  abagraph serve --bind 127.0.0.1:8081 --data data2 --join 127.0.0.1:9080
  abagraph serve --bind 127.0.0.1:8082 --data data3 --join 127.0.0.1:9080

Between machines the peer port needs --cluster-secret, or certificates.

What the node does is written to stderr, one JSON object a line. SIGINT and
SIGTERM end it in order; a second one at once.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			got, err := resolve(c.Flags(), a.world)
			if err != nil {
				return err
			}
			return a.serve(c.Context(), got)
		},
	}
	settingFlags(c.Flags())
	return c
}

// serve runs a node until the context ends or the node cannot go on.
func (a *app) serve(ctx context.Context, s settings) error {
	tuneCollector(ctx)
	window := events.NewWindow(nil)
	logger := slog.New(window.Handler(events.NewLines(a.err, a.logLevel(s))))
	n, err := openNode(s, logger, window, a.die)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- n.server.Serve() }()
	err = a.follow(ctx, s, n, served)
	logger.Info("abagraph.server.stop", "reason", stopReason(err))
	if closing := n.close(s.seconds("shutdown_secs")); closing != nil {
		err = errors.Join(err, fmt.Errorf("shut down: %w", closing))
	}
	return err
}

// follow shows the banner once the node is ready, or is slow to be, and returns
// when the node is to stop: nil because the context ended, or what went wrong.
func (a *app) follow(ctx context.Context, s settings, n *node, served <-chan error) error {
	ready, cancel := context.WithTimeout(ctx, bannerWait)
	waiting := n.raft.WaitReady(ready)
	cancel()
	if n.raft.Err() == nil && ctx.Err() == nil {
		if err := a.banner(s, n, waiting); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return err
	case <-n.raft.Failed():
		return fmt.Errorf("the node cannot go on: %w", n.raft.Err())
	}
}

// bannerWait is how long the banner waits for the node: one that is alone is
// ready at once, one of a cluster may have to wait for the others.
const bannerWait = 3 * time.Second

func stopReason(err error) string {
	if err == nil {
		return "asked to stop"
	}
	return oneLine(err)
}

// logLevel is what the process log tells: everything of interest, or only
// warnings where a person reads it beside the banner and asked for no more.
func (a *app) logLevel(s settings) slog.Level {
	switch s.get("log_level") {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	if a.errTerminal && s["log_level"].from == fromPreset {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// seconds reads a setting that was checked to be a whole number of seconds.
func (s settings) seconds(name string) time.Duration {
	return time.Duration(s.number(name)) * time.Second
}
