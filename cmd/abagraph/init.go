package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func initCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [--url URL] [--key KEY]",
		Short: "Save the server and the key, check them, and show the endpoints",
		Long: `Writes the URL and the key to ~/.abagraph.json (mode 0600, the key in plain
text), asks the server whether it is there, and prints its endpoints.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.init(c.Context()) },
	}
}

func (a *app) init(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	_, key := a.target()
	if err := a.writeSaved(saved{URL: c.Base(), Key: key.value}); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "Wrote ~/"+savedName)
	if err := c.Health(ctx); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "Health: OK")
	info, err := c.Connect(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "REST: %s\nMCP: %s\nStream: %s\n", orElse(info.RestBase, c.Base()+"/api"),
		orElse(info.MCPEndpoint, "not served here"), orElse(info.StreamEndpoint, c.Base()+"/api/stream"))
	return err
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
