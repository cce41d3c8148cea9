package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

// The pages of an export hold about as many bytes as this, and not more facts
// than the server gives at once. Few large pages matter: each one makes the
// server find its place in the past anew.
const (
	exportPageBytes = 8 << 20
	exportFirstPage = 1000
)

func exportCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var all bool
	var name string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write facts as JSON Lines, which import reads",
		Long: `Writes the facts of the tenant as JSON Lines, oldest change first, all as they
stood at one tx: the present one, or --tx. By default the active ones; --all
writes facts of every status.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Status = "active"
			if all {
				q.Status = "all"
			}
			return a.export(c.Context(), q, name)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&all, "all", false, "facts of every status")
	flags.StringVarP(&name, "output", "o", "-", "file to write, - for stdout")
	flags.StringVar(&q.Subject, "subject", "", "exact subject")
	flags.StringVar(&q.Predicate, "predicate", "", "exact predicate")
	flags.StringVar(&q.Branch, "branch", "", "branch to read from")
	flags.StringVar(&q.Tx, "tx", "", "as the store stood at this tx (default: now)")
	return c
}

func (a *app) export(ctx context.Context, q client.FactQuery, name string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	if q.Tx == "" {
		stats, err := c.Stats(ctx, client.Read{})
		if err != nil {
			return a.explainDenial(err)
		}
		q.Tx = strconv.FormatUint(stats.Tx, 10)
	}
	count, err := a.exportTo(ctx, c, q, name)
	if err != nil {
		return fmt.Errorf("after %d facts: %w", count, err)
	}
	if a.errTerminal || name != "-" {
		fmt.Fprintf(a.err, "%d facts as of tx %s\n", count, q.Tx)
	}
	return nil
}

// exportTo writes to stdout, or to a file whose errors of closing count too.
func (a *app) exportTo(ctx context.Context, c *client.Client, q client.FactQuery, name string) (int, error) {
	var w io.Writer = a.out
	closing := func() error { return nil }
	if name != "-" {
		file, err := os.Create(name)
		if err != nil {
			return 0, fmt.Errorf("make the file: %w", err)
		}
		w, closing = file, file.Close
	}
	buffered := bufio.NewWriterSize(w, 256<<10)
	count, err := exportPages(ctx, c, q, buffered)
	return count, errors.Join(err, buffered.Flush(), closing())
}

// exportPages reads page after page at one tx. A page ends between two tx
// (C-24), so the last one's tx is where the next page begins.
func exportPages(ctx context.Context, c *client.Client, q client.FactQuery, w io.Writer) (int, error) {
	q.Limit = exportFirstPage
	count, after, bytes := 0, uint64(0), 0
	for {
		q.TxGt = strconv.FormatUint(after, 10)
		page, err := c.Facts(ctx, q)
		if err != nil || len(page.Facts) == 0 {
			return count, err
		}
		for i := range page.Facts {
			f := &page.Facts[i]
			if _, err := fmt.Fprintf(w, "%s\n", f.Raw); err != nil {
				return count, err
			}
			count++
			bytes += len(f.Raw)
			after = max(after, f.Tx)
		}
		q.Limit = min(max(exportPageBytes/(bytes/count+1), 1), fact.MaxLimit)
	}
}
