package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func embeddingsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "embeddings",
		Short: "Show which facts have a vector, and embed those without",
		Long: `Facts get a vector as they are written, where ABAGRAPH_EMBEDDING is hash, openai
or http. Those that got none, because the provider failed or was configured later,
are embedded by the leader in the background.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(embeddingsStatusCommand(a), embeddingsRunCommand(a))
	return c
}

func embeddingsStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Count facts with and without a vector of the present model",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), "/api/embeddings", nil, false, embeddingsTable)
		},
	}
}

func embeddingsRunCommand(a *app) *cobra.Command {
	var wait bool
	c := &cobra.Command{
		Use:   "run",
		Short: "Look at every fact now, and embed those without a vector",
		Long: `Has the node look at every fact from the first one on, instead of waiting for
what is new, and shows how far it is until it has come to the end. Interrupting
the command does not interrupt the node. It needs the admin key.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runEmbeddings(c.Context(), wait) },
	}
	c.Flags().BoolVar(&wait, "wait", true, "wait until it is done")
	return c
}

// embeddingsPoll is how often run looks how far the node is.
const embeddingsPoll = 500 * time.Millisecond

func (a *app) runEmbeddings(ctx context.Context, wait bool) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	at, err := c.RunEmbedding(ctx)
	if err != nil {
		return a.explainDenial(err)
	}
	before := uint64(0)
	for wait && at.Job != nil && at.Job.Running {
		if a.errTerminal && at.Job.Embedded != before {
			fmt.Fprintf(a.err, "%d embedded, %d to go\n", at.Job.Embedded, *at.Missing)
			before = at.Job.Embedded
		}
		select {
		case <-time.After(embeddingsPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
		if at, err = c.Embeddings(ctx, client.Read{}); err != nil {
			return err
		}
	}
	answer, err := c.Do(ctx, client.Call{Method: "GET", Path: "/api/embeddings"})
	if err != nil {
		return err
	}
	if err := a.answer(answer, embeddingsTable); err != nil {
		return err
	}
	if at.Job != nil && at.Job.LastError != nil && *at.Missing > 0 && wait {
		return errors.New(*at.Job.LastError)
	}
	return nil
}

func embeddingsTable(t *table, raw []byte) error {
	var e client.Embeddings
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	t.row("provider", e.Provider)
	if !e.Enabled {
		t.row("vectors", "none are made")
		return nil
	}
	t.row("model", *e.Model)
	t.row("dimension", fmt.Sprint(*e.Dim))
	t.row("facts", fmt.Sprint(*e.Facts))
	t.row("  with a vector", fmt.Sprint(*e.Embedded))
	t.row("  without", fmt.Sprint(*e.Missing))
	state := "waits for new facts"
	switch {
	case e.Job.Running:
		state = "runs"
	case !e.Job.Leads:
		state = "is the leader's"
	}
	t.row("job", fmt.Sprintf("%s; has looked at everything up to tx %d", state, e.Job.ThroughTx))
	if e.Job.LastError != nil {
		t.row("last error", *e.Job.LastError)
	}
	return nil
}
