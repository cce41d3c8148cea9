package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func opsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "ops",
		Short: "Operate a node or a cluster: backup, restore, verify and more",
		Long: `What an operator does to a running node needs the admin key. What works on files
(restore, verify, recover, log) needs a node that does not run.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, command := range []*cobra.Command{opsBackupCommand(a), opsRestoreCommand(a), opsVerifyCommand(a), opsVerifyAuditCommand(a),
		opsStatusCommand(a), opsSnapshotCommand(a), opsTransferCommand(a), opsPeersCommand(a), opsRecoverCommand(a), opsLogCommand(a),
		opsDoctorCommand(a), opsBundleCommand(a), opsCertsCommand(a), opsReplayCommand(a), opsCompactCommand(a)} {
		c.AddCommand(command)
	}
	return c
}

// show writes a report: as JSON, or by table where a person reads.
func show[T any](a *app, report T, rows func(*table, T)) error {
	raw, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return a.answer(&client.Answer{Body: raw}, func(t *table, _ []byte) error {
		rows(t, report)
		return nil
	})
}

// bytesText writes a size for a person.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
