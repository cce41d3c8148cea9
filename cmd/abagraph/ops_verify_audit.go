package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

func opsVerifyAuditCommand(a *app) *cobra.Command {
	var job ops.VerifyAudit
	var noted string
	c := &cobra.Command{
		Use:   "verify-audit FILE|DIR",
		Short: "Follow the audit chain of a backup, or of a node that does not run",
		Long: `Each record of the audit trail carries a hash over itself and the one before it.
The command follows the chain over all of them: a record that was changed, left out
or put in between is told. Who can write the files could make a new chain: --noted
holds the trail to a hash that was kept elsewhere, as GET /api/audit and this command
tell it. It changes nothing. The exit code is 1 where something is wrong.`,
		Example: `  abagraph ops verify-audit monday.backup
  abagraph ops verify-audit --noted 4711:9f86d0…0f00a08 /var/lib/abagraph`,
		Args: exactArgs("FILE|DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			job.Path = args[0]
			if noted != "" {
				tx, hash, ok := strings.Cut(noted, ":")
				n, err := strconv.ParseUint(tx, 10, 64)
				if !ok || err != nil || n == 0 || len(hash) != 64 {
					return fmt.Errorf("--noted must be a tx and its hash of 64 hexadecimal digits, such as 4711:9f86…, not %q", noted)
				}
				job.NotedTx, job.NotedHash = n, strings.ToLower(hash)
			}
			bar := newBar(a, a.json)
			job.Progress = bar.working
			return judged(a, bar, func() (*ops.VerifyAuditReport, error) { return job.Run(c.Context()) }, verifyAuditTable, func(r *ops.VerifyAuditReport) bool { return r.Sound })
		},
	}
	c.Flags().StringVar(&noted, "noted", "", "TX:HASH that was kept elsewhere, which the trail must have")
	c.Flags().StringVar(&job.Temp, "temp", "", "directory to unpack a backup in (default: the system's)")
	return c
}

func verifyAuditTable(t *table, r *ops.VerifyAuditReport) {
	t.row(r.Kind, r.Path)
	if r.Audit != nil {
		t.row("records", fmt.Sprintf("%d, chained from tx %d to tx %d", r.Audit.Records, r.Audit.From, r.Audit.Tx))
		t.row("end", fmt.Sprintf("%d:%s", r.Audit.Tx, r.Audit.Hash))
	}
	for _, problem := range r.Problems {
		t.line("PROBLEM: %s", problem)
	}
	if r.Sound {
		t.line("the chain holds: note its end somewhere else")
	}
}
