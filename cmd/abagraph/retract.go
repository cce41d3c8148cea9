package main

import (
	"net/url"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func retractCommand(a *app) *cobra.Command {
	var w client.Write
	var explain bool
	c := &cobra.Command{
		Use:   "retract ID",
		Short: "Take a statement back; its history stays",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: "DELETE", Path: "/api/facts/" + url.PathEscape(args[0]), IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, w.Branch, explain, nil)
		},
	}
	flags := c.Flags()
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(&explain, "explain", false, "show how the write went")
	return c
}
