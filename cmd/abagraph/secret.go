package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var secrets = &kind{path: client.SecretsPath, rows: "secrets", field: "name", list: secretsTable, one: secretTable}

func secretCommand(a *app) *cobra.Command {
	return group("secret", "Say where secrets are kept; never what they are",
		`What webhooks, connectors and alerts prove themselves with is read at its use, on
the node that uses it, from where a reference leads: a variable of the node's
environment, or a file. No value is ever sent, stored or shown. References are the
administrator's; --tenant names whose they are.`, `  abagraph secret set stripe --env STRIPE_SECRET --tenant acme
  abagraph secret set ledger --file /run/secrets/ledger --tenant acme
  abagraph secret list --tenant acme`,
		secretSetCommand(a), secrets.listCommand(a, "List references", false), secrets.getCommand(a, "Show one reference"),
		secrets.deleteCommand(a, "Take a reference back; the secret itself stays where it is"))
}

func secretSetCommand(a *app) *cobra.Command {
	var w client.Write
	var variable, file string
	var explain bool
	c := &cobra.Command{
		Use:               "set NAME",
		Short:             "Keep or move a reference",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: secrets.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			reference := "env:" + variable
			if variable == "" {
				if !filepath.IsAbs(file) {
					return errors.New("--file must be an absolute path, since it is read on the nodes")
				}
				reference = "file:" + file
			}
			body, err := json.Marshal(map[string]string{"name": args[0], "reference": reference})
			if err != nil {
				return fmt.Errorf("write the reference: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.SecretsPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, "", explain, secretTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&variable, "env", "", "variable of the nodes' environment that holds it")
	flags.StringVar(&file, "file", "", "absolute path of a file on the nodes that holds it")
	c.MarkFlagsMutuallyExclusive("env", "file")
	c.MarkFlagsOneRequired("env", "file")
	retriable(flags, &w, &explain)
	return c
}

func secretsTable(t *table, raw []byte) error {
	var list struct {
		Secrets []client.SecretRef `json:"secrets"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Secrets) > 0 {
		t.row("SECRET", "REFERENCE", "TENANT", "SINCE")
	}
	for i := range list.Secrets {
		s := &list.Secrets[i]
		t.row(s.Name, orDash(s.Reference), orDash(s.Tenant), when(s.CreatedAt))
	}
	t.line("%s", count(len(list.Secrets), "reference", "references"))
	return nil
}

func secretTable(t *table, raw []byte) error {
	var s client.SecretRef
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	t.row("secret", s.Name)
	t.row("tenant", orDash(s.Tenant))
	t.row("reference", orDash(s.Reference))
	t.row("since", when(s.CreatedAt))
	return nil
}
