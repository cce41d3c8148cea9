package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

const day = 24 * time.Hour

func opsCertsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "certs",
		Short: "Make a small authority and certificates for the nodes' mutual TLS",
		Long: `For those who have no authority of their own. The authority's key stays in its
directory, which no node needs: copy ca.crt and the node's own two files to each
node, and name them by --peer-tls-ca, --peer-tls-cert and --peer-tls-key. Keys are
readable by their owner only, and nothing that is there is replaced.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(opsCertsCACommand(a), opsCertsNodeCommand(a), opsCertsListCommand(a))
	return c
}

func opsCertsCACommand(a *app) *cobra.Command {
	var dir, name string
	var days int
	c := &cobra.Command{
		Use: "ca --dir DIR", Short: "Make an authority: ca.crt and ca.key", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			report, err := ops.MakeAuthority(dir, name, time.Duration(days)*day, time.Now())
			if err != nil {
				return err
			}
			return show(a, report, certTable)
		},
	}
	c.Flags().StringVar(&dir, "dir", "certs", "directory of the authority")
	c.Flags().StringVar(&name, "name", "abagraph cluster", "name of the authority")
	c.Flags().IntVar(&days, "days", 3650, "days that it is valid")
	return c
}

func opsCertsNodeCommand(a *app) *cobra.Command {
	var dir string
	var hosts []string
	var days int
	var renew bool
	c := &cobra.Command{
		Use: "node NAME --host HOST,… --dir DIR", Short: "Make a node's certificate and key: NAME.crt and NAME.key",
		Long: `The hosts are those that other nodes dial: what --peer-advertise and --join name,
without the port. With --renew the node's files are replaced; a node that runs takes
up the new ones with its next connection, without a restart.`,
		Args: exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := ops.MakeNodeCert(dir, args[0], hosts, time.Duration(days)*day, time.Now(), renew)
			if err != nil {
				return err
			}
			return show(a, report, certTable)
		},
	}
	c.Flags().StringVar(&dir, "dir", "certs", "directory of the authority")
	c.Flags().StringSliceVar(&hosts, "host", nil, "names and addresses that other nodes dial, without a port")
	c.Flags().IntVar(&days, "days", 825, "days that it is valid")
	c.Flags().BoolVar(&renew, "renew", false, "replace the node's files")
	return c
}

func opsCertsListCommand(a *app) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "list --dir DIR", Short: "List the certificates, and which have to be renewed", Args: cobra.NoArgs,
		Long: `The exit code is 1 where one has to be renewed within 30 days, or is not of this
authority.`,
		RunE: func(*cobra.Command, []string) error {
			list, err := ops.ListCerts(dir, time.Now())
			if err != nil {
				return err
			}
			if err := show(a, list, certsTable); err != nil {
				return err
			}
			for _, one := range list {
				if one.Problem != "" {
					return errTold
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "certs", "directory of the authority")
	return c
}

func certTable(t *table, r *ops.CertReport) {
	t.row("certificate", r.Cert)
	t.row("key", r.Key)
	if len(r.Hosts) > 0 {
		t.row("for", strings.Join(r.Hosts, ", "))
	}
	t.row("valid until", r.NotAfter.Format(time.RFC3339))
}

func certsTable(t *table, list []*ops.CertReport) {
	t.row("NAME", "FOR", "VALID UNTIL", "PROBLEM")
	for _, r := range list {
		hosts := strings.Join(r.Hosts, ", ")
		if r.Authority {
			hosts = "authority"
		}
		t.row(r.Name, hosts, r.NotAfter.Format(time.DateOnly), r.Problem)
	}
}
