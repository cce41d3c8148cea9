package main

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// destroy sends what destroys data. Where it waits for the other admin key, the
// command says so and fails, since nothing was done.
func (a *app) destroy(ctx context.Context, call client.Call, approval string, show func(*table, []byte) error) error {
	if approval != "" {
		call.Query.Set("approval", approval)
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	got, err := c.Do(ctx, call)
	if err != nil {
		return a.explainDenial(err)
	}
	pending := client.PendingIn(got)
	if pending == nil {
		return a.answer(got, show)
	}
	if err := a.answer(got, approvalTable); err != nil {
		return err
	}
	return pending
}

const approvalUsage = "id of an approval that the other admin key has asked for"

func purgeCommand(a *app) *cobra.Command {
	var p client.PurgeTarget
	var w client.Write
	var approval string
	var confirm bool
	c := &cobra.Command{
		Use:   "purge",
		Short: "Erase subjects for good; without --confirm, count what that would be",
		Long: `Erases every version, index and event of subjects on every node, for good: of the
tenant that --tenant names, else of all. Without --confirm it counts, and touches
nothing. With two admin keys it is done when both have sent it: the first is told the
id of an approval and fails with "pending", the other sends the same with --approval.`,
		Example: `  abagraph purge --subject Person:berta --tenant acme
  abagraph purge --subject Person:berta --tenant acme --confirm
  abagraph purge --subject Person:berta --tenant acme --confirm --approval 0197…`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			query := p.Values()
			if !confirm {
				return a.read(c.Context(), client.PurgePath, query, false, purgedTable)
			}
			query.Set("confirm", "1")
			return a.destroy(c.Context(), client.Call{Method: "POST", Path: client.PurgePath, Query: query, IdempotencyKey: w.IdempotencyKey}, approval, purgedTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&p.Subject, "subject", "", "exactly this subject")
	flags.StringVar(&p.Prefix, "prefix", "", "subjects that begin so")
	flags.StringVar(&p.Kind, "kind", "", "subjects of this kind: Person is the prefix Person:")
	flags.BoolVar(&confirm, "confirm", false, "erase; this cannot be undone")
	flags.StringVar(&approval, "approval", "", approvalUsage)
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is done once")
	c.MarkFlagsMutuallyExclusive("subject", "prefix", "kind")
	c.MarkFlagsOneRequired("subject", "prefix", "kind")
	return c
}

func approvalsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "approvals",
		Short:   "List what waits for the other admin key",
		Example: `  abagraph approvals --key "$SECOND_ADMIN_KEY"`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), client.ApprovalsPath, url.Values{}, false, approvalsTable)
		},
	}
}

func purgedTable(t *table, raw []byte) error {
	var p client.Purged
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	if p.DryRun {
		t.line("would erase %s; to do so, add --confirm", count(int(p.Facts), "fact", "facts"))
		return nil
	}
	t.line("erased %s", count(int(p.Deleted), "fact", "facts"))
	return nil
}

func approvalTable(t *table, raw []byte) error {
	var p client.Pending
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	t.row("approval", p.Approval.ID)
	t.row("action", p.Approval.Action)
	t.row("asked by", p.Approval.By)
	t.row("until", when(p.Approval.ExpiresAt))
	return nil
}

func approvalsTable(t *table, raw []byte) error {
	var list struct {
		Approvals []client.Approval `json:"approvals"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Approvals) > 0 {
		t.row("APPROVAL", "ACTION", "ASKED BY", "UNTIL")
	}
	for _, p := range list.Approvals {
		t.row(p.ID, p.Action, p.By, when(p.ExpiresAt))
	}
	t.line("%s", count(len(list.Approvals), "approval waits", "approvals wait"))
	return nil
}
