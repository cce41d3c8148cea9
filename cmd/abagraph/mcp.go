package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/internal/events"
	"abagraph/mcp"
)

func mcpCommand(a *app) *cobra.Command {
	var data, profile string
	c := &cobra.Command{
		Use:   "mcp [--data DIR]",
		Short: "Serve the memory to an MCP host on stdin and stdout",
		Long: `Speaks the Model Context Protocol on stdin and stdout, for hosts that start their
servers themselves. The tools are those of POST /mcp.

Without --data it speaks to the server at --url with --key, and a tenant's key
keeps its tenant and its role. With --data it is a node of its own on that
directory, or on :memory:, whose host is administrator; no other process can
have the directory meanwhile.

stdout carries the protocol and nothing else. What goes wrong is told on stderr.`,
		Example: `  abagraph mcp --url http://127.0.0.1:8080
  abagraph mcp --data ./agent-memory --profile agent-memory`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.fitForMCP(data); err != nil {
				return err
			}
			if profile == "" {
				profile = a.getenv("ABAGRAPH_MCP_PROFILE")
			}
			chosen, err := mcp.ParseProfile("profile", profile)
			if err != nil {
				return err
			}
			if profile == "" {
				chosen = "" // the server's own holds
			}
			if data == "" {
				return a.mcpFar(c.Context(), chosen)
			}
			return a.mcpNear(c.Context(), c.Flags(), chosen)
		},
	}
	c.Flags().StringVar(&data, "data", "", "serve this data directory, or :memory:, without a server")
	c.Flags().StringVar(&profile, "profile", "", "tools that are listed: full, agent-memory or read-only (env ABAGRAPH_MCP_PROFILE)")
	return c
}

// fitForMCP refuses the flags of other commands that would be passed over here.
func (a *app) fitForMCP(data string) error {
	switch {
	case a.tenant != "":
		return errors.New("--tenant means nothing to MCP: each call names its namespace")
	case data != "" && (a.url != "" || a.key != ""):
		return errors.New("--data is a node of its own, without a server: leave out --url and --key")
	}
	return nil
}

// mcpFar carries messages to a server.
func (a *app) mcpFar(ctx context.Context, profile mcp.Profile) error {
	c, err := a.client()
	if errors.Is(err, errNoURL) {
		return fmt.Errorf("%w Or give --data DIR to serve a directory", errNoURL)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	return a.bridge(ctx, profile, func(ctx context.Context, body []byte, header map[string]string, each func([]byte) error) error {
		err := c.MCP(ctx, client.MCPMessage{Body: body, Header: header}, each)
		var e *client.Error
		if !errors.As(err, &e) {
			return err
		}
		if e.Code == fact.NotFound && e.Message == "not found" {
			e.Message += ": the server shows nothing to this key; is the key right, and the URL?"
		}
		return refusal{e, e.Code}
	})
}

// refusal is a server's refusal with its stable code.
type refusal struct {
	error
	code fact.Code
}

func (r refusal) RefusalCode() fact.Code { return r.code }

// mcpNear runs a node of its own, without a port, and carries messages to it.
func (a *app) mcpNear(ctx context.Context, flags *pflag.FlagSet, profile mcp.Profile) (err error) {
	s, err := resolve(flags, a.world)
	if err != nil {
		return err
	}
	if level := s["log_level"]; level.from == fromPreset {
		s["log_level"] = resolved{"warn", fromPreset} // hosts keep stderr, and read it only where something is wrong
	}
	tuneCollector(ctx)
	logger := slog.New(events.NewLines(a.err, a.logLevel(s)))
	n, link, err := openAlone(ctx, s, logger, a.die)
	if err != nil {
		return err
	}
	defer func() {
		if closing := n.close(s.seconds("shutdown_secs")); closing != nil {
			err = errors.Join(err, fmt.Errorf("shut down: %w", closing))
		}
	}()
	alive, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-n.raft.Failed():
			cancel(fmt.Errorf("the node cannot go on: %w", n.raft.Err()))
		case <-alive.Done():
		}
	}()
	err = a.bridge(alive, profile, link)
	cancel(nil)
	<-ended
	if cause := context.Cause(alive); err == nil && ctx.Err() == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// bridge carries messages until the host closes stdin, or ends the process.
func (a *app) bridge(ctx context.Context, profile mcp.Profile, link mcp.Link) error {
	b := mcp.Bridge{In: a.in, Out: a.out, Link: link, Profile: profile}
	if err := b.Run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
