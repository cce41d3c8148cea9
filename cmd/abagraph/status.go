package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	Cluster *client.Cluster `json:"cluster,omitempty"`
}

func statusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the node is ready, and where it stands",
		Long: `Asks the node whether it can answer (/api/ready), where it stands, and how it
sees its cluster: who leads, and how far each member is. Two nodes that name the
same tx must name the same digest. The exit code is 1 while it is not ready.`,
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
	_, err = c.Ready(ctx)
	var e *client.Error
	switch {
	case err == nil:
		got.Ready = true
	case errors.As(err, &e) && e.Status == 503:
		got.Why = e.Error()
	default:
		return err
	}
	if err := got.ask(ctx, c); err != nil && got.Ready {
		return a.explainDenial(err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	if err := a.answer(&client.Answer{Body: raw}, statusTable); err != nil {
		return err
	}
	if !got.Ready {
		return errTold
	}
	return nil
}

// ask reads what the node tells a caller with a key; a node that is not ready
// may tell less.
func (n *nodeStatus) ask(ctx context.Context, c *client.Client) error {
	seen, err := c.Observability(ctx)
	if err != nil {
		return err
	}
	n.Tx, n.Epoch, n.Cluster = seen.Tx, seen.Epoch, seen.Cluster
	stats, err := c.Stats(ctx, client.Read{Consistency: "stale"})
	if err != nil {
		return err
	}
	n.Tenant, n.Version = stats.Tenant, stats.Version
	return nil
}

// statusTable shows the node as names and values, and the members below it, a
// line each.
func statusTable(t *table, raw []byte) error {
	var got nodeStatus
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	t.row("url", got.URL)
	t.row("ready", fmt.Sprint(got.Ready))
	for _, row := range [...][2]string{{"why", got.Why}, {"version", got.Version}, {"tenant", got.Tenant}, {"epoch", got.Epoch}} {
		if row[1] != "" {
			t.row(row[0], row[1])
		}
	}
	if got.Cluster != nil {
		clusterTable(t, got.Cluster)
	}
	return nil
}

func clusterTable(t *table, c *client.Cluster) {
	leader := "none known"
	if c.LeaderID != nil {
		leader = *c.LeaderID
	}
	t.row("node", c.NodeID)
	t.row("state", c.State)
	t.row("leader", leader)
	t.row("term", fmt.Sprint(c.Term))
	t.row("log", fmt.Sprintf("committed to entry %d, applied to entry %d", c.CommitIndex, c.AppliedIndex))
	t.row("tx", fmt.Sprint(c.Tx))
	t.row("digest", c.Digest)
	for i := range c.Members {
		t.row("member", memberLine(&c.Members[i]))
	}
}

// memberLine tells of one member.
func memberLine(m *client.Member) string {
	line := m.ID
	if m.Leader {
		line += ", leads"
	}
	if !m.Voter {
		line += ", does not vote yet"
	}
	if !m.Reachable || m.Tx == nil || m.Lag == nil {
		return line + ", does not answer"
	}
	return line + fmt.Sprintf(", at tx %d, %d entries behind", *m.Tx, *m.Lag)
}
