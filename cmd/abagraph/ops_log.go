package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

func opsLogCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "log", Short: "Read the Raft log of a node that does not run", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(opsLogDumpCommand(a))
	return c
}

func opsLogDumpCommand(a *app) *cobra.Command {
	var job ops.LogDump
	c := &cobra.Command{
		Use:   "dump DIR",
		Short: "Tell the entries of the log, one a line",
		Long: `Tells each entry: its index, term, kind and time, and of a batch what its requests are
and how large. No text of a fact is told unless --facts asks for it; keys of
Idempotency-Key and hashes of keys never are. JSON Lines, or columns on a terminal.`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			job.Data = args[0]
			out := bufio.NewWriterSize(a.out, 64<<10)
			err := job.Run(c.Context(), func(e *ops.LogEntry) error {
				if a.readable() {
					_, err := fmt.Fprintln(out, logLine(e))
					return err
				}
				raw, err := json.Marshal(e)
				if err != nil {
					return err
				}
				_, err = out.Write(append(raw, '\n'))
				return err
			})
			return errors.Join(err, out.Flush())
		},
	}
	c.Flags().Uint64Var(&job.From, "from", 0, "first entry to tell (default: the first there is)")
	c.Flags().Uint64Var(&job.Limit, "limit", 0, "how many entries (default: all)")
	c.Flags().BoolVar(&job.Facts, "facts", false, "tell what was written too")
	return c
}

// logLine tells an entry to a person.
func logLine(e *ops.LogEntry) string {
	at := ""
	if e.ProposedAt != nil {
		at = instantText(*e.ProposedAt)
	}
	var what []string
	for i := range e.Requests {
		r := &e.Requests[i]
		text := r.Kind
		if r.Asserts+r.Retracts+r.Guards > 0 {
			text += fmt.Sprintf(" %d+%d-%d?", r.Asserts, r.Retracts, r.Guards)
		}
		if r.Tenant != "" {
			text += " of " + r.Tenant
		}
		for _, f := range r.Facts {
			text += fmt.Sprintf(" [%s %s %s %s %s]", f.Op, f.ID, f.Subject, f.Predicate, f.Object)
		}
		if r.Selector != "" {
			text += " [" + r.Selector + "]"
		}
		what = append(what, text)
	}
	what = append(what, e.Members...)
	if e.Kind == "check" {
		what = append(what, fmt.Sprintf("tx %d, digest %.12s", e.Tx, e.Digest))
	}
	if e.Problem != "" {
		what = append(what, "PROBLEM: "+e.Problem)
	}
	return plain(fmt.Sprintf("%8d  term %d  %-24s  %-10s  %7s  %s", e.Index, e.Term, at, e.Kind, bytesText(int64(e.Bytes)), strings.Join(what, ", ")))
}
