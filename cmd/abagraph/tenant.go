package main

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var tenants = &kind{path: client.TenantsPath, field: "id", list: tenantsTable, one: tenantTable}

func tenantCommand(a *app) *cobra.Command {
	return group("tenant", "Register tenants, and make and revoke their keys", "", `  abagraph tenant create acme --name 'Acme Inc.'
  abagraph tenant key acme --name agent-7 --role read
  abagraph tenant keys acme
  abagraph tenant revoke acme 0197…`,
		tenantCreateCommand(a), tenants.listCommand(a, "List tenants, deleted ones included", false), tenants.getCommand(a, "Show one tenant"), tenantDeleteCommand(a),
		tenantKeyCommand(a), tenantKeysCommand(a), tenantRevokeCommand(a))
}

func tenantCreateCommand(a *app) *cobra.Command {
	var w client.Write
	var n client.NewTenant
	var explain bool
	c := &cobra.Command{
		Use:   "create ID",
		Short: "Register a tenant with a first key, which is shown this once",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			n.ID = args[0]
			body, err := json.Marshal(n)
			if err != nil {
				return fmt.Errorf("write the tenant: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.TenantsPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, tenantTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&n.Name, "name", "", "a name for people")
	flags.StringVar(&n.Role, "role", "", "role of the first key: read, write (the default) or admin")
	retriable(flags, &w, &explain)
	return c
}

func tenantDeleteCommand(a *app) *cobra.Command {
	var w client.Write
	var approval string
	c := &cobra.Command{
		Use:               "delete ID",
		Short:             "Shut a tenant out; its facts stay until a purge",
		Args:              exactArgs("ID"),
		ValidArgsFunction: tenants.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "DELETE", Path: tenants.of(args[0]), Query: approved(approval), IdempotencyKey: w.IdempotencyKey}
			return a.call(c.Context(), call, false, nil)
		},
	}
	approvable(c.Flags(), &approval)
	c.Flags().StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is done once")
	return c
}

func tenantKeyCommand(a *app) *cobra.Command {
	var w client.Write
	var n client.NewKey
	var explain bool
	c := &cobra.Command{
		Use:               "key TENANT",
		Short:             "Make a key, which is shown this once",
		Args:              exactArgs("TENANT"),
		ValidArgsFunction: tenants.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := json.Marshal(n)
			if err != nil {
				return fmt.Errorf("write the key: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.KeysPath(args[0]), Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, keyTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&n.Name, "name", "", "name of the key: the agent that a policy knows")
	flags.StringVar(&n.Role, "role", "", "read, write (the default) or admin")
	flags.BoolVar(&n.Rotate, "rotate", false, "revoke the tenant's other keys of that name and role")
	retriable(flags, &w, &explain)
	return c
}

func tenantKeysCommand(a *app) *cobra.Command {
	var q client.Read
	var explain bool
	c := &cobra.Command{
		Use:               "keys TENANT",
		Short:             "List the keys of a tenant; no key itself is ever shown again",
		Args:              exactArgs("TENANT"),
		ValidArgsFunction: tenants.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.KeysPath(args[0]), q.Values(), explain, keysTable)
		},
	}
	freshness(c.Flags(), &q, &explain)
	return c
}

func tenantRevokeCommand(a *app) *cobra.Command {
	var w client.Write
	var explain bool
	c := &cobra.Command{
		Use:               "revoke TENANT KEY",
		Short:             "End a key, and every session that carries it",
		Args:              exactArgs("TENANT", "KEY"),
		ValidArgsFunction: tenants.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "DELETE", Path: client.KeysPath(args[0]) + "/" + url.PathEscape(args[1]), IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, nil)
		},
	}
	retriable(c.Flags(), &w, &explain)
	return c
}

func tenantsTable(t *table, raw []byte) error {
	var list []client.Tenant
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) > 0 {
		t.row("TENANT", "NAME", "STATUS", "FACTS", "CREATED")
	}
	for i := range list {
		t.row(list[i].ID, list[i].Name, list[i].Status, fmt.Sprint(list[i].FactCount), when(list[i].CreatedAt))
	}
	t.line("%s", count(len(list), "tenant", "tenants"))
	return nil
}

func tenantTable(t *table, raw []byte) error {
	var one client.Tenant
	if err := json.Unmarshal(raw, &one); err != nil {
		return err
	}
	t.row("tenant", one.ID)
	t.row("name", one.Name)
	t.row("status", one.Status)
	t.row("created", when(one.CreatedAt))
	if one.Key != "" {
		t.row("key", one.Key)
	} else {
		t.row("facts", fmt.Sprint(one.FactCount))
	}
	return nil
}

func keyTable(t *table, raw []byte) error {
	var k client.Key
	if err := json.Unmarshal(raw, &k); err != nil {
		return err
	}
	t.row("id", k.ID)
	t.row("name", k.Name)
	t.row("role", k.Role)
	t.row("key", k.Secret)
	return nil
}

func keysTable(t *table, raw []byte) error {
	var list []client.Key
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) > 0 {
		t.row("ID", "NAME", "ROLE", "CREATED", "REVOKED")
	}
	for i := range list {
		k := &list[i]
		t.row(k.ID, k.Name, k.Role, when(k.CreatedAt), instant(k.RevokedAt))
	}
	t.line("%s", count(len(list), "key", "keys"))
	return nil
}
