package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var leases = &kind{path: client.LeasesPath, rows: "leases", field: "resource", times: true, list: leasesTable, one: leaseTable}

func leaseCommand(a *app) *cobra.Command {
	return group("lease", "Hold a resource for a time, so that no other agent acts on it", "", `  abagraph lease acquire nightly-report --holder agent-7 --ttl 300
  abagraph lease renew nightly-report --holder agent-7
  abagraph lease release nightly-report --holder agent-7`,
		leaseChangeCommand(a, "acquire", "Take a resource, if no one else holds it", func(string) string { return client.LeasesPath }),
		leaseChangeCommand(a, "renew", "Give a lease more time", func(r string) string { return client.LeasePath(r) + "/renew" }),
		leaseChangeCommand(a, "release", "End a lease before its time", func(r string) string { return client.LeasePath(r) + "/release" }),
		leases.getCommand(a, "Show who holds a resource, or held it"),
		leases.listCommand(a, "List the last lease of each resource", true, filter{"status", "only those that are held, stale or released"}))
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
