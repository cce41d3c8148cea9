package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// nodeStatus is what status tells of the node that it speaks to.
type nodeStatus struct {
	URL     string          `json:"url"`
	Ready   bool            `json:"ready"`
	Why     string          `json:"why,omitempty"`
	Tx      uint64          `json:"tx,omitempty"`
	Epoch   string          `json:"epoch,omitempty"`
	Tenant  string          `json:"tenant,omitempty"`
	Version string          `json:"version,omitempty"`
	Node    json.RawMessage `json:"node,omitempty"` // what /api/ready tells beside
}

func statusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the node is ready, and where it stands",
		Long: `Asks the node whether it can answer (/api/ready), and where it stands. The exit
code is 1 while it is not ready.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.status(c.Context()) },
	}
}

func (a *app) status(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	got := nodeStatus{URL: c.Base()}
	ready, err := c.Ready(ctx)
	var e *client.Error
	switch {
	case err == nil:
		got.Ready, got.Node = true, ready
	case errors.As(err, &e) && e.Status == 503:
		got.Why = e.Error()
	default:
		return err
	}
	if stats, err := c.Stats(ctx, client.Read{Consistency: "stale"}); err == nil {
		got.Tx, got.Epoch, got.Tenant, got.Version = stats.Tx, stats.Epoch, stats.Tenant, stats.Version
	} else if got.Ready {
		return a.explainDenial(err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	if err := a.answer(&client.Answer{Body: raw}, flatTable); err != nil {
		return err
	}
	if !got.Ready {
		return errTold
	}
	return nil
}

// flatTable shows a JSON object as names and values, nested ones by dotted
// names.
func flatTable(t *table, raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	flatten(t, "", value)
	return nil
}

func flatten(t *table, name string, value any) {
	dot := name
	if dot != "" {
		dot += "."
	}
	switch v := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for key := range v {
			names = append(names, key)
		}
		slices.Sort(names)
		for _, key := range names {
			flatten(t, dot+key, v[key])
		}
	case []any:
		for i, one := range v {
			flatten(t, fmt.Sprintf("%s%d", dot, i), one)
		}
	default:
		t.row(name, fmt.Sprint(v))
	}
}
