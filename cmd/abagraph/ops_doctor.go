package main

import (
	"strings"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

func opsDoctorCommand(a *app) *cobra.Command {
	var job ops.Doctor
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong, and the command that mends it",
		Long: `Looks at the cluster through the node that is called or, with --data, at the data of a
node that does not run, as verify does. It changes nothing. The exit code is 1 where
something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if job.Data == "" {
				client, err := a.client()
				if err != nil {
					return err
				}
				defer client.Close()
				job.Client = client
			}
			report, err := job.Run(c.Context())
			if err != nil {
				return a.explainDenial(err)
			}
			if err := show(a, report, doctorTable); err != nil {
				return err
			}
			if !report.Healthy {
				return errTold
			}
			return nil
		},
	}
	c.Flags().StringVar(&job.Data, "data", "", "data directory of a node that does not run")
	return c
}

func doctorTable(t *table, r *ops.DoctorReport) {
	for _, f := range r.Findings {
		t.line("PROBLEM: %s", f.What)
		t.line("  do:    %s", f.Do)
	}
	if r.Healthy {
		t.line("nothing is wrong with %s", r.Of)
	}
}

func opsBundleCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "bundle FILE.tar.gz",
		Short: "Gather what someone who helps has to know: no facts, no keys, no secrets",
		Long: `Writes one archive: how the members stand, what is wrong, counts of facts and events,
metrics, versions. Names of members and addresses of their peer ports are in it.`,
		Args: exactArgs("FILE.tar.gz"),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			defer client.Close()
			job := ops.Bundle{Client: client, To: args[0], Version: version}
			report, err := job.Run(c.Context())
			if err != nil {
				return a.explainDenial(err)
			}
			return show(a, report, func(t *table, r *ops.BundleReport) {
				t.row("file", r.File)
				t.row("holds", strings.Join(r.Parts, ", "))
				for _, missing := range r.Missing {
					t.line("missing: %s", missing)
				}
			})
		},
	}
}
