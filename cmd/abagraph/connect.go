package main

import (
	"github.com/spf13/cobra"
)

func connectCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "connect",
		Short: "Print ready-to-paste snippets for clients",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			target, err := a.client()
			if err != nil {
				return err
			}
			defer target.Close()
			info, err := target.Connect(c.Context())
			if err != nil {
				return a.explainDenial(err)
			}
			return writeJSON(a.out, info.Snippets)
		},
	}
}
