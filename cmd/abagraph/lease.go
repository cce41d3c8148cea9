package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func leaseCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "lease",
		Short: "Hold a resource for a time, so that no other agent acts on it",
		Example: `  abagraph lease acquire nightly-report --holder agent-7 --ttl 300
  abagraph lease renew nightly-report --holder agent-7
  abagraph lease release nightly-report --holder agent-7`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		leaseChangeCommand(a, "acquire", "Take a resource, if no one else holds it", func(string) string { return client.LeasesPath }),
		leaseChangeCommand(a, "renew", "Give a lease more time", func(r string) string { return client.LeasePath(r) + "/renew" }),
		leaseChangeCommand(a, "release", "End a lease before its time", func(r string) string { return client.LeasePath(r) + "/release" }),
		leaseGetCommand(a), leaseListCommand(a))
	return c
}

func leaseChangeCommand(a *app, verb, short string, path func(resource string) string) *cobra.Command {
	var w client.Write
	var l client.LeaseChange
	var explain bool
	c := &cobra.Command{
		Use:   verb + " RESOURCE --holder NAME",
		Short: short,
		Args:  exactArgs("RESOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			l.Resource = args[0]
			body, err := json.Marshal(l)
			if err != nil {
				return fmt.Errorf("write the lease: %w", err)
			}
			call := client.Call{Method: "POST", Path: path(args[0]), Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, leaseTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&l.Holder, "holder", "", "who holds it: a name of its own for each process")
	if verb != "release" {
		flags.Int64Var(&l.TTLSecs, "ttl", 0, "seconds until it expires (default 300, at most 86,400)")
	}
	flags.Uint64Var(&l.Token, "token", 0, "only the lease that has this token")
	retriable(flags, &w, &explain)
	return c
}

func leaseGetCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "get RESOURCE",
		Short: "Show who holds a resource, or held it",
		Args:  exactArgs("RESOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.LeasePath(args[0]), q.Values(), explain, leaseTable)
		},
	}
	c.Flags().StringVar(&q.AsOf, "as-of", "", "who held it then (Unix milliseconds, 2024-06-19 or RFC 3339)")
	freshness(c.Flags(), &q.Read, &explain)
	return c
}

func leaseListCommand(a *app) *cobra.Command {
	var q client.Read
	var status, after string
	var limit int
	var explain bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the last lease of each resource",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			query := client.Listing{Read: q, After: after, Limit: limit}.Values()
			if status != "" {
				query.Set("status", status)
			}
			return a.read(c.Context(), client.LeasesPath, query, explain, leasesTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&status, "status", "", "only those that are held, stale or released")
	flags.StringVar(&after, "after", "", "those of greater resources")
	flags.IntVar(&limit, "limit", 0, "at most this many (default 200, at most 10,000)")
	freshness(flags, &q, &explain)
	return c
}

func leaseTable(t *table, raw []byte) error {
	var l client.Lease
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	t.row("resource", l.Resource)
	t.row("status", l.Status)
	if l.Holder != nil {
		t.row("holder", *l.Holder)
		t.row("token", fmt.Sprint(*l.Token))
		t.row("acquired", when(*l.AcquiredAt))
		t.row("expires", when(*l.ExpiresAt))
	}
	return nil
}

func leasesTable(t *table, raw []byte) error {
	var list struct {
		Leases []client.Lease `json:"leases"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Leases) > 0 {
		t.row("RESOURCE", "STATUS", "HOLDER", "TOKEN", "EXPIRES")
	}
	for i := range list.Leases {
		l := &list.Leases[i]
		if l.Holder == nil {
			t.row(l.Resource, l.Status, "", "", "")
			continue
		}
		t.row(l.Resource, l.Status, *l.Holder, fmt.Sprint(*l.Token), when(*l.ExpiresAt))
	}
	t.line("%s", count(len(list.Leases), "lease", "leases"))
	return nil
}
