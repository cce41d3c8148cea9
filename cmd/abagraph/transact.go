package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// maxTransactBytes bounds a body that is read from a file; the server has its
// own limit.
const maxTransactBytes = 1 << 30

func transactCommand(a *app) *cobra.Command {
	var w client.Write
	var explain bool
	c := &cobra.Command{
		Use:   "transact FILE|-",
		Short: "Write a batch of guards, retracts and asserts, all or nothing",
		Example: `  echo '{"compares":[{"subject":"Job:1","predicate":"owner","absent":true}],
         "asserts":[{"subject":"Job:1","predicate":"owner","object":"me"}]}' | abagraph transact -`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := a.readInput(args[0], "batch")
			if err != nil {
				return err
			}
			call := client.Call{Method: "POST", Path: "/api/transact", Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, w.Branch, explain, transactTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(&explain, "explain", false, "show how the write went")
	return c
}

func (a *app) readInput(name, what string) ([]byte, error) {
	from := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("open the %s: %w", what, err)
		}
		defer file.Close()
		from = file
	}
	body, err := io.ReadAll(io.LimitReader(from, maxTransactBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", what, err)
	}
	if len(body) > maxTransactBytes {
		return nil, fmt.Errorf("the %s is larger than %d bytes", what, maxTransactBytes)
	}
	return body, nil
}

func transactTable(t *table, raw []byte) error {
	var got client.Transacted
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	factRows(t, got.Facts)
	t.line("tx %d: %d facts touched, %d retracted, %d superseded", got.Tx, len(got.Facts), len(got.Retracted), got.Superseded)
	return nil
}
