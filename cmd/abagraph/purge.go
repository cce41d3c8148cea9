package main

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"abagraph/client"
)

// approvable adds the flag of what may take two.
func approvable(flags *pflag.FlagSet, approval *string) {
	flags.StringVar(approval, "approval", "", "id of what somebody else has asked for, where this takes two")
}

// approved is the query of a call that may take two.
func approved(approval string) url.Values {
	v := url.Values{}
	if approval != "" {
		v.Set("approval", approval)
	}
	return v
}

func purgeCommand(a *app) *cobra.Command {
	var p client.PurgeTarget
	var w client.Write
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
			return a.call(c.Context(), client.Call{Method: "POST", Path: client.PurgePath, Query: query, IdempotencyKey: w.IdempotencyKey}, false, purgedTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&p.Subject, "subject", "", "exactly this subject")
	flags.StringVar(&p.Prefix, "prefix", "", "subjects that begin so")
	flags.StringVar(&p.Kind, "kind", "", "subjects of this kind: Person is the prefix Person:")
	flags.BoolVar(&confirm, "confirm", false, "erase; this cannot be undone")
	approvable(flags, &p.Approval)
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is done once")
	c.MarkFlagsMutuallyExclusive("subject", "prefix", "kind")
	c.MarkFlagsOneRequired("subject", "prefix", "kind")
	return c
}

func approvalsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "approvals",
		Short:   "List what waits for somebody else: the other admin key, or another agent",
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
