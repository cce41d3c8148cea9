package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func auditCommand(a *app) *cobra.Command {
	var q client.AuditQuery
	c := &cobra.Command{
		Use:   "audit",
		Short: "Show who did what: every transaction, with the name of its key",
		Long: `Lists the audit trail, the newest first. It needs a key of role admin: a tenant's
shows the trail of the tenant, the admin key that of all. No word of any fact is in
it; what a transaction wrote is found with query --tx-gt.`,
		Example: `  abagraph audit --action purge
  abagraph audit --actor acme/agent-7 --from 2026-01-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Forward = c.Flags().Changed("tx-gt")
			return a.read(c.Context(), "/api/audit", q.Values(), false, auditTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Actor, "actor", "", "only what this key did")
	flags.StringVar(&q.Action, "action", "", "only this: write, purge, sweep, vectors, branch, registry, or exactly one such as key.add")
	flags.StringVar(&q.From, "from", "", "recorded at or after this instant")
	flags.StringVar(&q.To, "to", "", "recorded at or before this instant")
	flags.Uint64Var(&q.After, "tx-gt", 0, "go on after this tx, the oldest first")
	flags.Uint64Var(&q.Before, "tx-lt", 0, "go on before this tx, the newest first")
	flags.IntVar(&q.Limit, "limit", 0, "transactions of a page (default 200)")
	return c
}

func auditTable(t *table, raw []byte) error {
	var got client.AuditAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	t.row("TX", "RECORDED", "ACTOR", "ACTION", "TARGET", "TENANT", "ASSERTED", "SUPERSEDED", "RETRACTED", "EXPIRED")
	for i := range got.Records {
		r := &got.Records[i]
		t.row(strconv.FormatUint(r.Tx, 10), instantText(r.RecordedAt), orDash(r.Actor), r.Action, orDash(r.Target), orDash(r.Tenant),
			number(r.Asserted), number(r.Superseded), number(r.Retracted), number(r.Expired))
	}
	if got.Next != nil {
		t.line("there is more: go on with --tx-lt %d, or --tx-gt %d where the oldest come first", *got.Next, *got.Next)
	}
	return nil
}
