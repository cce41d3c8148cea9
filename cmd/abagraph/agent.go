package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// configFile is where agent init leaves the configuration for MCP hosts.
const configFile = "abagraph.mcp.json"

func agentCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "Connect agents to the server",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "init",
		Short: "Write ./" + configFile + ", and show what common hosts are told",
		Long: `Asks the server how it is reached, prints what Claude Desktop, Claude Code, Cursor
and VS Code are told, and writes ./` + configFile + ` for any other MCP host. Servers of
other names in that file stay. The key is never written: put yours in place of
<YOUR_API_KEY>.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.agentInit(c.Context()) },
	})
	return c
}

// snippets are those of /api/connect that are for agents.
type snippets struct {
	Agent  string          `json:"agent"`
	Plugin string          `json:"plugin"`
	Config json.RawMessage `json:"mcp_config"`
}

func (a *app) agentInit(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	info, err := c.Connect(ctx)
	if err != nil {
		return a.explainDenial(err)
	}
	var got snippets
	if err := json.Unmarshal(info.Snippets, &got); err != nil {
		return fmt.Errorf("read the snippets: %w", err)
	}
	if info.MCPEndpoint == "" || got.Config == nil {
		return errors.New("this server does not serve MCP")
	}
	a.snippet("agent snippet (createAgentMemory)", got.Agent)
	a.snippet("plugin snippet (memoryPlugin)", got.Plugin)
	for _, host := range hosts(c.Base(), info.MCPEndpoint) {
		a.snippet(host.name, host.text)
	}
	if err := writeConfig(got.Config); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, "Wrote ./"+configFile)
	return err
}

func (a *app) snippet(name, text string) {
	if text != "" {
		fmt.Fprintf(a.out, "--- %s ---\n%s\n", name, text)
	}
}

// host is an MCP host and what it is told.
type host struct{ name, text string }

const keyPlaceholder = "<YOUR_API_KEY>"

func hosts(base, endpoint string) []host {
	bearer := map[string]string{"Authorization": "Bearer " + keyPlaceholder}
	return []host{
		{"Claude Desktop (claude_desktop_config.json)", pretty(map[string]any{"mcpServers": map[string]any{"abagraph": map[string]any{
			"command": "abagraph", "args": []string{"mcp"}, "env": map[string]string{"ABAGRAPH_URL": base, "ABAGRAPH_KEY": keyPlaceholder},
		}}})},
		{"Claude Code", `claude mcp add --transport http abagraph ` + endpoint + ` --header "Authorization: Bearer ` + keyPlaceholder + `"`},
		{"Cursor (.cursor/mcp.json)", pretty(map[string]any{"mcpServers": map[string]any{"abagraph": map[string]any{"url": endpoint, "headers": bearer}}})},
		{"VS Code (.vscode/mcp.json)", pretty(map[string]any{"servers": map[string]any{"abagraph": map[string]any{"type": "http", "url": endpoint, "headers": bearer}}})},
	}
}

// unescaped writes a value as JSON in which nothing is escaped that need not be.
func unescaped(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := writeValue(&b, v)
	return b.Bytes(), err
}

// pretty writes a value of ours as JSON that a person edits.
func pretty(v any) string {
	var b bytes.Buffer
	if err := writeValue(&b, v); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// writeConfig puts our server into the file, beside those that it holds already.
func writeConfig(config json.RawMessage) error {
	var ours struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(config, &ours); err != nil {
		return fmt.Errorf("read the server's mcp_config: %w", err)
	}
	file := map[string]json.RawMessage{}
	servers := map[string]json.RawMessage{}
	raw, err := os.ReadFile(configFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read ./%s: %w", configFile, err)
	default:
		if err := json.Unmarshal(raw, &file); err != nil {
			return fmt.Errorf("./%s is not JSON, and is left as it is: %w", configFile, err)
		}
		if old, ok := file["mcpServers"]; ok {
			if err := json.Unmarshal(old, &servers); err != nil {
				return fmt.Errorf("mcpServers in ./%s is no object, and is left as it is: %w", configFile, err)
			}
		}
	}
	for name, server := range ours.Servers {
		servers[name] = server
	}
	if file["mcpServers"], err = unescaped(servers); err != nil {
		return fmt.Errorf("write ./%s: %w", configFile, err)
	}
	var b bytes.Buffer
	if err := writeValue(&b, file); err != nil {
		return err
	}
	if err := os.WriteFile(configFile, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write ./%s: %w", configFile, err)
	}
	return nil
}
