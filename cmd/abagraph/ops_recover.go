package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/ops"
)

func opsRecoverCommand(a *app) *cobra.Command {
	job := ops.Recover{Fatal: a.die}
	c := &cobra.Command{
		Use:   "recover --data DIR",
		Short: "Make one member a cluster of its own, after the majority was lost for good",
		Long: `For the day when most members are lost with their disks. From the data of one that is
left, and does not run, it makes a node alone, in a new cluster and a new epoch, with
all that its log holds. Writes that the others acknowledged and this one never got are
lost; so take the one with the greatest tx (abagraph ops verify tells it). The other
members must never run again with their old data: empty them, and join them anew.

It says what it would do and asks for words to be typed, or given with --confirm.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if job.Data == "" {
				return fmt.Errorf("say whose data with --data DIR")
			}
			if job.Confirm == "" && a.errTerminal {
				if err := a.askWords(&job); err != nil {
					return err
				}
			}
			report, err := job.Run(c.Context())
			if err != nil {
				return err
			}
			return show(a, report, recoverTable)
		},
	}
	c.Flags().StringVar(&job.Data, "data", "", "data directory of the member that is left")
	c.Flags().StringVar(&job.Confirm, "confirm", "", `the words, such as "recover n1 alone"`)
	return c
}

// askWords tells a person what would be done, and reads the words.
func (a *app) askWords(job *ops.Recover) error {
	plan, err := job.Plan()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s is at tx %d, entry %d of %d; its members besides itself: %s.\n", plan.NodeID, plan.Tx, plan.Index, plan.Last, strings.Join(plan.Lost, ", "))
	fmt.Fprintf(a.err, "They would be members no more, and what they have and %s has not would be lost.\nType %q to go on: ", plan.NodeID, plan.Words)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && line == "" {
		return fmt.Errorf("nothing was typed: nothing was done")
	}
	job.Confirm = strings.TrimSpace(line)
	return nil
}

func recoverTable(t *table, r *ops.RecoverReport) {
	t.row("node", r.NodeID+", alone")
	t.row("no members now", strings.Join(r.Lost, ", "))
	t.row("applied", fmt.Sprintf("%d entries of the log", r.Applied))
	t.row("tx", fmt.Sprint(r.Tx))
	t.row("new epoch", r.Epoch)
	t.line("start it with: abagraph serve --data %s, and join the others to it with empty directories", r.Data)
}
