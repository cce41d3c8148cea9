package main

import (
	"context"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/ops"
)

func opsPeersCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "peers",
		Short: "List, remove, promote and demote members of the cluster",
		Long: `A node adds itself: start it with an empty data directory and --join. Every other
change is asked of any node, and refused where the voters that answer would be no
majority after it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the members, their addresses and votes", Args: cobra.NoArgs,
		RunE: a.onNode(func(ctx context.Context, c *client.Client) error {
			nodes, err := c.Nodes(ctx)
			if err != nil {
				return err
			}
			return show(a, nodes.Members, peersTable)
		}),
	}
	c.AddCommand(list, opsPeersAddCommand(a),
		a.peerChange("remove ID", "Take a member out of the cluster, for good",
			`A member that runs on is told, and joins again only with an empty data directory.`, "removed",
			func(ctx context.Context, c *client.Client, id string) error { return c.RemovePeer(ctx, id) }),
		a.peerChange("promote ID", "Give a member its vote, once it has caught up", "", "promoted",
			func(ctx context.Context, c *client.Client, id string) error { return c.SetVoter(ctx, id, true) }),
		a.peerChange("demote ID", "Take a member's vote: it goes on as a reader",
			`It is sent everything and answers reads, and counts for no majority. It stays so through
restarts, until it is promoted.`, "demoted",
			func(ctx context.Context, c *client.Client, id string) error { return c.SetVoter(ctx, id, false) }))
	return c
}

func peersTable(t *table, members []client.NodeStatus) {
	t.row("MEMBER", "ROLE", "PEER ADDRESS", "ANSWERS")
	for i := range members {
		m := &members[i]
		answers := "yes"
		if !m.Answers {
			answers = "no"
		}
		t.row(m.ID, roleOf(m), orDash(m.Address), answers)
	}
}

// peerChange is a command that changes one member.
func (a *app) peerChange(use, short, long, did string, change func(context.Context, *client.Client, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactArgs("ID"),
		RunE: func(command *cobra.Command, args []string) error {
			return a.onNode(func(ctx context.Context, c *client.Client) error {
				if err := change(ctx, c, args[0]); err != nil {
					return err
				}
				return show(a, changeReport{args[0], did}, func(t *table, r changeReport) { t.line("%s is %s", r.ID, r.Did) })
			})(command, args)
		},
	}
}

type changeReport struct {
	ID  string `json:"node_id"`
	Did string `json:"change"`
}

// opsPeersAddCommand tells how a node is added: it has to ask itself, with its own
// identity and secret, so that nothing is added that is not there.
func opsPeersAddCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "add ID HOST:PORT",
		Short: "Show the command that adds a node: it is run on the new node's machine",
		Args:  exactArgs("ID", "HOST:PORT"),
		RunE: func(command *cobra.Command, args []string) error {
			return a.onNode(func(ctx context.Context, c *client.Client) error {
				nodes, err := c.Nodes(ctx)
				if err != nil {
					return err
				}
				plan, err := ops.AddPlan(nodes, args[0], args[1])
				if err != nil {
					return err
				}
				return show(a, planReport{plan}, func(t *table, r planReport) {
					t.line("Run this there, with the cluster's secret or certificates, the admin key and an empty data directory:")
					t.line("%s", r.Command)
				})
			})(command, args)
		},
	}
}

type planReport struct {
	Command string `json:"command"`
}
