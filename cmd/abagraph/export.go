package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

// The pages of an export hold about as many bytes as this, and not more facts
// than the server gives at once.
const (
	exportPageBytes = 8 << 20
	exportFirstPage = 1000
)

func exportCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var all bool
	var name string
	var after uint64
	c := &cobra.Command{
		Use:   "export",
		Short: "Write facts as JSON Lines, which import reads",
		Long: `Writes the facts of the tenant as JSON Lines, oldest change first, all as they
stood at one tx: the present one, or --tx. By default the active ones; --all
writes facts of every status. A file is made with mode 0600, and has its name once it
is whole: one of that name is replaced then.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Status = "active"
			if all {
				q.Status = "all"
			}
			return a.export(c.Context(), q, after, name)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&all, "all", false, "facts of every status")
	flags.StringVarP(&name, "output", "o", "-", "file to write, - for stdout")
	flags.StringVar(&q.Subject, "subject", "", "exact subject")
	flags.StringVar(&q.Predicate, "predicate", "", "exact predicate")
	flags.StringVar(&q.Branch, "branch", "", "branch to read from")
	flags.StringVar(&q.Tx, "tx", "", "as the store stood at this tx (default: now)")
	flags.Uint64Var(&after, "after-tx", 0, "only facts that were written or changed after this tx")
	return c
}

func (a *app) export(ctx context.Context, q client.FactQuery, after uint64, name string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	at, err := standing(ctx, c, q.Branch)
	if err != nil {
		return a.explainDenial(err)
	}
	e := &exporter{client: c, query: q, after: after}
	e.query.Tx = orElse(q.Tx, strconv.FormatUint(at.Tx, 10))
	count, err := a.exportTo(ctx, e, name)
	switch {
	case err != nil && count > 0:
		return fmt.Errorf("%w (after %d facts)", err, count)
	case err != nil:
		return err
	}
	if a.errTerminal || name != "-" {
		fmt.Fprintf(a.err, "%d facts as of tx %s\n", count, e.query.Tx)
	}
	return nil
}

// exportTo writes to stdout, or a file that has its name only once it is whole, and that
// nobody but its owner may read.
func (a *app) exportTo(ctx context.Context, e *exporter, name string) (int, error) {
	if name == "-" {
		err := e.write(ctx, a.out)
		return e.count, err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe, a device
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return 0, fmt.Errorf("open the file: %w", err)
		}
		err = errors.Join(e.write(ctx, file), file.Close())
		return e.count, err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".abagraph-*.partial") // made with mode 0600
	if err != nil {
		return 0, fmt.Errorf("make the file: %w", err)
	}
	err = e.write(ctx, file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return e.count, err
}

func (e *exporter) write(ctx context.Context, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 256<<10)
	err := e.run(ctx, buffered)
	return errors.Join(err, buffered.Flush())
}

// exporter reads page after page of one state of the store.
type exporter struct {
	client *client.Client
	query  client.FactQuery // its Tx names the state
	after  uint64
	count  int
	bytes  int
}

func (e *exporter) run(ctx context.Context, w io.Writer) error {
	e.query.Limit = exportFirstPage
	for {
		page, err := e.page(ctx)
		if err != nil || len(page.Facts) == 0 {
			return err
		}
		for i := range page.Facts {
			f := &page.Facts[i]
			if _, err := fmt.Fprintf(w, "%s\n", f.Raw); err != nil {
				return err
			}
			e.count++
			e.bytes += len(f.Raw)
			e.after = max(e.after, f.Tx)
		}
		e.query.Limit = min(max(exportPageBytes/(e.bytes/e.count+1), 1), fact.MaxLimit)
	}
}

// page reads the next page. Pages end between two tx (C-24), so the last one's
// tx is where the next begins.
func (e *exporter) page(ctx context.Context) (*client.FactList, error) {
	q := e.query
	q.TxGt = strconv.FormatUint(e.after, 10)
	return e.client.Facts(ctx, q)
}
